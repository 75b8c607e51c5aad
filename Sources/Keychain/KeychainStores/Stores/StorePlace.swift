internal import KeychainCredentials
public import KeychainSecretService
internal import PrephirencesSystem

/// Which store a program or its user chooses.
public enum StoreChoice: String, CaseIterable, Hashable, Sendable {
  /// The store of each service; a new service gets the one that fits: see ``AutomaticStore``.
  case automatic = "auto"

  /// The encrypted file: see ``Vault``.
  case vault

  /// The desktop keyring: see ``SecretServiceStore``.
  case secretService = "secret-service"
}

/// Where the credentials of a service are kept.
public enum StorePlace: Hashable, Sendable {
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
    Self(
      .damaged, "\(path) is damaged: it names no store",
      recovery: .nameStoreAndRemoveRecord)
  }
}
