internal import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The preferences of a program, which are those of a suite.
struct PreferenceDomain {
  let name: String
  let store: any DomainStore

  /// The store, if its changes are recorded instead of made.
  let rehearsed: RehearsedDomain?

  init(named name: String, in store: any DomainStore) {
    (self.name, self.store, rehearsed) = (name, store, nil)
  }

  init(named name: String, rehearsing store: any DomainStore) {
    let rehearsed = RehearsedDomain(store)
    (self.name, self.store, self.rehearsed) = (name, rehearsed, rehearsed)
  }

  /// Whether it has a file, or its shared store exists on the engine; nothing is created.
  func exists() throws -> Bool { try store.storedPath() != nil }

  /// The file with its preferences, even if it is refused; empty if there is none.
  var path: String {
    do { return try store.storedPath() ?? "" } catch {
      return (try? store.expectedPath()) ?? ""
    }
  }

  /// Returns the value of a key, or `nil`.
  func value(forKey key: String) throws -> PreferenceValue? {
    try store.value(forKey: key)?.withOneNaN
  }

  /// Whether a key has a value, also an unreadable one.
  func hasValue(forKey key: String) throws -> Bool {
    do {
      return try store.value(forKey: key) != nil
    } catch let error as PreferencesError where error.code == .damaged {
      guard try store.pairs().unreadable.contains(where: { $0.key.utf8.elementsEqual(key.utf8) })
      else { throw error }
      return true
    }
  }

  /// Returns all readable values, sorted by the bytes of their keys, and why others cannot be read.
  func contents() throws -> DomainContents {
    let pairs = try store.pairs()
    var contents = DomainContents()
    contents.unreadable = pairs.unreadable.map { ($0.key, $0.failure) }
    contents.otherKeysFailure = pairs.otherKeysFailure
    contents.values = pairs.pairs.map { ($0.key, $0.value.withOneNaN) }
    contents.values.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    contents.unreadable.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    return contents
  }

  /// Returns all keys, in the order of their bytes.
  func keys() throws -> [String] {
    let pairs = try store.pairs()
    if let failure = pairs.otherKeysFailure { throw failure }
    return (pairs.pairs.map(\.key) + pairs.unreadable.map(\.key))
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Performs reads and changes as one, without others in between.
  func change(_ kind: ChangeKind = .asOne, _ body: (PreferenceDomain) throws -> Void) throws {
    try store.change(kind) { try body(PreferenceDomain(named: name, in: $0)) }
  }

  /// Sets the value of a key; `nil` removes it.
  func set(_ value: PreferenceValue?, forKey key: String) throws {
    try store.set(value, forKey: key)
  }
}

/// The readable values of a domain, and why others cannot be read.
struct DomainContents {
  var values: [(key: String, value: PreferenceValue)] = []
  var unreadable: [(key: String, failure: any Error)] = []

  /// Why there may be other values: those of `UserDefaults` are not imported, or changes are
  /// missing.
  var otherKeysFailure: (any Error)?
}

/// Which changes belong together.
enum ChangeKind {
  /// All, or none.
  case asOne

  /// All, or none, and only if the engine still has the values that were read.
  case conditional

  /// All, or none, on this machine; a shared store receives them in pieces.
  case inPieces
}

/// The domains of this machine.
protocol DomainStores: Sendable {
  /// Returns the names of all, sorted by their bytes.
  func names() throws -> [String]

  func store(named name: String) -> any DomainStore
}

protocol DomainStore {
  /// The file or address of the values, or `nil` if there is none; nothing is created.
  func storedPath() throws -> String?

  /// The expected file or address, without a check.
  func expectedPath() throws -> String

  /// Whether a change creates its file. The file may be one that is refused, so check before
  /// refusing.
  func isWithoutFile() throws -> Bool

  /// Returns the value of a key, or `nil`.
  func value(forKey key: String) throws -> PreferenceValue?

  /// Returns all readable keys and values, in any order, and why others cannot be read.
  func pairs() throws -> ReadablePairs

  /// Sets the value of a key; `nil` removes it.
  func set(_ value: PreferenceValue?, forKey key: String) throws

  /// Removes rows whose key is not text, which no call can name.
  func removeDamagedKeys() throws

  /// Performs reads and changes as one. If somebody else has changed the same keys meanwhile, the
  /// body may be called again.
  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws

  /// Fails as the changes would, without making them or creating anything.
  func rehearse(_ changes: [(key: String, value: PreferenceValue?)], _ kind: ChangeKind) throws

  /// Reports changes of all writers until the returned observations are destroyed.
  ///
  /// Keys are compared by their bytes; an empty list means all. `end` limits how long it tries to
  /// start; `nil` is the limit of other calls. `changes` also receives the error that ends the
  /// observation.
  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation]

  /// Why values saved by `UserDefaults` are not among the preferences after a change; `nil` if they
  /// are.
  var failureOfImport: PreferencesError? { get }

  /// Waits until all changes are on disk, and sent if the domain is a shared store.
  func synchronize() throws
}

extension DomainStore {
  func isWithoutFile() -> Bool { false }
  func removeDamagedKeys() {}
  func rehearse(_ changes: [(key: String, value: PreferenceValue?)], _ kind: ChangeKind) throws {}
}
