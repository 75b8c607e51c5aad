package import KeychainCredentials
public import KeychainSecretService
internal import KeychainVault
internal import PrephirencesSystem

/// The store that a program or its user chooses.
@nonexhaustive public enum StoreChoice: String, CaseIterable, Hashable, Sendable {
  /// The store of each service; a new service gets the one that fits: see ``AutomaticStore``.
  case automatic = "auto"

  /// The encrypted file: see ``Vault``.
  case vault

  /// The desktop keyring: see ``SecretServiceStore``.
  case secretService = "secret-service"
}

/// The place of a service's credentials.
@nonexhaustive public enum StorePlace: Hashable, Sendable {
  /// In the vault at its usual place.
  case vault

  /// In a collection of the desktop keyring.
  case secretService(SecretServiceStore.Collection)

  /// Whether its contents are deleted when the session ends, so that nothing must rely on it.
  var endsWithSession: Bool {
    switch self {
    case .vault: false
    case .secretService(let collection): collection.endsWithSession
    }
  }

  /// The name that ``StoreChoice`` and `KEYCHAIN_STORE` use: `vault` or `secret-service`.
  public var name: String {
    switch self {
    case .vault: StoreChoice.vault.rawValue
    case .secretService: StoreChoice.secretService.rawValue
    }
  }

  /// The name of the store in messages.
  var words: String {
    switch self {
    case .vault: "the vault"
    case .secretService(.default): "the desktop keyring"
    case .secretService(.session): "the desktop keyring's session collection"
    case .secretService(.named(let label)): "the collection '\(label)' of the desktop keyring"
    }
  }

  /// The names of the two stores.
  package static let names = [Self.vault, .secretService(.default)].map(\.name)

  /// Creates the place of a store's name; `nil` if the name is unknown.
  package init?(name: String) {
    switch StoreChoice(rawValue: name) {
    case .vault: self = .vault
    case .secretService: self = .secretService(.default)
    case .automatic, nil: return nil
    }
  }
}

/// The text of a record: a line that names the format, then lines `name: value`.
extension StorePlace {
  private static let heading = "keychain store "
  private static let version = "1"

  var text: String {
    let lines =
      switch self {
      case .vault: ["store: vault"]
      case .secretService(let collection):
        ["store: secret-service", "collection: \(Self.text(collection))"]
      }
    return ([Self.heading + Self.version] + lines).map { $0 + "\n" }.joined()
  }

  /// Reads a text.
  init(text: String, path: String) throws(KeychainError) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    guard let first = lines.first, first.hasPrefix(Self.heading) else { throw .strange(path) }
    guard first == Self.heading + Self.version else {
      throw KeychainError(
        .unsupportedFormat, "\(path) was written by a newer release",
        recovery: "use that release, or " + .nameStore)
    }
    switch lines.dropFirst() {
    case ["store: vault", ""]: self = .vault
    case let rest where rest.count == 3 && rest[1] == "store: secret-service" && rest[3].isEmpty:
      guard let collection = Self.collection(rest[2]) else { throw .strange(path) }
      self = .secretService(collection)
    default: throw .strange(path)
    }
  }

  private static func text(_ collection: SecretServiceStore.Collection) -> String {
    switch collection {
    case .default: "default"
    case .session: "session"
    case .named(let label): "label " + label.percentEncoded(keepingOnly: "")
    }
  }

  private static func collection(_ line: String) -> SecretServiceStore.Collection? {
    let prefix = "collection: "
    guard line.hasPrefix(prefix) else { return nil }
    let words = line.dropFirst(prefix.count).split(separator: " ", omittingEmptySubsequences: false)
    switch (words.first, words.count) {
    case ("default", 1): return .default
    case ("session", 1): return .session
    case ("label", 2): return String(words[1]).percentDecoded.map { .named($0) }
    default: return nil
    }
  }
}

extension KeychainError {
  fileprivate static func strange(_ path: String) -> Self {
    Self(.damaged, "\(path) is damaged: it names no store", recovery: .nameStoreAndRemoveRecord)
  }
}

/// Records the store of each service: one file for each under `$XDG_STATE_HOME/keychain/stores`.
///
/// A service keeps its record when its last credential is removed: another program may be about to
/// write the next one, and removing and adding a credential must not change the store.
package final class StoreRecords: Sendable {
  private struct Known {
    let stamp: KeyedRecords.Stamp
    let place: StorePlace
  }

  private let files: KeyedRecords

  /// The records that were read, by the names of their files.
  private struct Cache {
    var known: [String: Known] = [:]
  }

  /// A type without generic parameters, so that the runtime needs no conformances to destroy it.
  private let cache = PosixMutex(Cache())

  init(in state: StateFolder) { files = KeyedRecords(named: "stores", in: state) }

  /// Returns the place of a service; `nil` if it has none yet, or there is no device key.
  package func place(of service: ServiceName) throws(KeychainError) -> StorePlace? {
    guard let name = try files.fileName(of: service.bytes) else { return nil }
    // Read each time, because another process may have moved the credentials.
    if let known = cache.withLock({ $0.known[name] }) {
      if try files.stamp(name) == known.stamp { return known.place }
    }
    guard let (text, stamp) = try files.read(name) else { return nil }
    let place = try StorePlace(text: text, path: files.path(name))
    cache.withLock { $0.known[name] = Known(stamp: stamp, place: place) }
    return place
  }

  /// Returns what changes when the record of a service does; of any service, if none is given.
  func marks(of service: ServiceName?) throws(KeychainError) -> [KeyedRecords.Stamp] {
    guard let service else { return try files.stamps() }
    guard let name = try files.fileName(of: service.bytes) else { return [] }
    return try files.stamp(name).map { [$0] } ?? []
  }

  /// Records the place of a service, unless it has one, and returns its place.
  ///
  /// Another process may have recorded it first.
  package func record(
    _ place: StorePlace, for service: ServiceName
  ) throws(KeychainError) -> (place: StorePlace, isNew: Bool) {
    let name = try fileName(service)
    for _ in 0..<8 {
      if try files.create(name, place.text) { return (place, true) }
      if let winner = try self.place(of: service) { return (winner, false) }
    }
    throw KeychainError(.busy, "the store of \(service) keeps changing", recovery: .tryAgain)
  }

  /// Records the new place of a service after its credentials were moved.
  package func move(_ service: ServiceName, to place: StorePlace) throws(KeychainError) {
    try files.replace(fileName(service), by: place.text)
  }

  /// Records a place for every service whose place meets a condition; returns the number of
  /// services.
  package func moveAll(
    where isMoved: (StorePlace) -> Bool, to place: StorePlace
  ) throws(KeychainError) -> Int {
    var count = 0
    for (path, text) in try files.all() {
      guard let text, let old = try? StorePlace(text: text, path: path), isMoved(old) else {
        continue
      }
      try files.replace(String(path.split(separator: "/").last ?? ""), by: place.text)
      count += 1
    }
    return count
  }

  /// Returns the places of all services, and the paths of records that cannot be read.
  package func all() throws(KeychainError) -> (places: [StorePlace], unreadable: [String]) {
    var places: [StorePlace] = []
    var unreadable: [String] = []
    for (path, text) in try files.all() {
      if let text, let place = try? StorePlace(text: text, path: path) {
        places.append(place)
      } else {
        unreadable.append(path)
      }
    }
    return (places, unreadable)
  }

  private func fileName(_ service: ServiceName) throws(KeychainError) -> String {
    guard let name = try files.fileName(of: service.bytes, makingDeviceSecret: true) else {
      throw KeychainError(.internalFailure, "the device key could not be made")
    }
    return name
  }
}
