internal import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The preferences of a program, which are those of a suite.
struct PreferenceDomain {
  let name: String
  let store: any DomainStore

  /// The store, if its changes are noted instead of made.
  let rehearsed: RehearsedDomain?

  init(named name: String, in store: any DomainStore) {
    (self.name, self.store, rehearsed) = (name, store, nil)
  }

  init(named name: String, rehearsing store: any DomainStore) {
    let rehearsed = RehearsedDomain(store)
    (self.name, self.store, self.rehearsed) = (name, rehearsed, rehearsed)
  }

  /// Returns whether it has a file, or its shared store an engine; nothing is created.
  func exists() throws -> Bool { try store.storedPath() != nil }

  /// The file with its preferences, also one that is refused; empty if there is none.
  var path: String {
    do { return try store.storedPath() ?? "" } catch {
      return (try? store.expectedPath()) ?? ""
    }
  }

  /// Returns the value of a key; `nil` if there is none.
  func value(forKey key: String) throws -> PreferenceValue? {
    try store.value(forKey: key)?.withOneNaN
  }

  /// Returns whether a key has a value, also one that cannot be read.
  func hasValue(forKey key: String) throws -> Bool {
    do {
      return try store.value(forKey: key) != nil
    } catch let error as PreferencesError where error.code == .damaged {
      guard try store.pairs().unreadable.contains(where: { $0.key.utf8.elementsEqual(key.utf8) })
      else { throw error }
      return true
    }
  }

  /// Returns all values that can be read, in the order of the bytes of their keys, and why others
  /// cannot.
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

  /// Performs reads and changes as one, in which nobody else comes in between.
  func change(_ kind: ChangeKind = .asOne, _ body: (PreferenceDomain) throws -> Void) throws {
    try store.change(kind) { try body(PreferenceDomain(named: name, in: $0)) }
  }

  /// Sets the value of a key; `nil` removes it.
  func set(_ value: PreferenceValue?, forKey key: String) throws {
    try store.set(value, forKey: key)
  }
}

/// All values of a domain that can be read, and why the others cannot.
struct DomainContents {
  var values: [(key: String, value: PreferenceValue)] = []
  var unreadable: [(key: String, failure: any Error)] = []

  /// Why there may be other values: those of `UserDefaults` are not imported, or changes are missing.
  var otherKeysFailure: (any Error)?
}

/// How changes belong together.
enum ChangeKind {
  /// All, or none.
  case asOne

  /// All, or none, and only if what was read is what the engine has, too.
  case conditional

  /// All, or none, on this machine; a shared store gets them in pieces.
  case inPieces
}

/// The domains of this machine.
protocol DomainStores: Sendable {
  /// Returns the names of all, in the order of their bytes.
  func names() throws -> [String]

  /// Returns the domain of a name, which may not exist.
  func store(named name: String) -> any DomainStore
}

protocol DomainStore {
  /// The file or address that has them; `nil` if there is none. Nothing is created.
  func storedPath() throws -> String?

  /// The file or address that would have them, without looking.
  func expectedPath() throws -> String

  /// Whether a change creates its file, also one that is refused; who may refuse it looks before.
  func isWithoutFile() throws -> Bool

  /// Returns the value of a key; `nil` if there is none.
  func value(forKey key: String) throws -> PreferenceValue?

  /// Returns all keys with their values that can be read, in any order, and why others cannot.
  func pairs() throws -> ReadablePairs

  /// Sets the value of a key; `nil` removes it.
  func set(_ value: PreferenceValue?, forKey key: String) throws

  /// Removes what has a key that is not text, which no call can name.
  func removeDamagedKeys() throws

  /// Performs reads and changes as one. The body may be called again if somebody else has changed the
  /// same keys meanwhile.
  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws

  /// Fails as changes would, without making them; nothing is created.
  func rehearse(_ changes: [(key: String, value: PreferenceValue?)], _ kind: ChangeKind) throws

  /// Notifies of the changes of everybody until what it returns is gone.
  ///
  /// Keys are compared by their bytes; none means all. `end` is when to give up beginning, `nil` for
  /// as long as other calls try. `changes` also gets the failure because of which there will be no
  /// more.
  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation]

  /// Why values that `UserDefaults` has saved are not among the preferences, after a change; `nil` if
  /// they are.
  var failureOfImport: PreferencesError? { get }

  /// Waits until all changes are on the disk, and sent if the domain is a shared store.
  func synchronize() throws
}

extension DomainStore {
  func isWithoutFile() -> Bool { false }
  func removeDamagedKeys() {}
  func rehearse(_ changes: [(key: String, value: PreferenceValue?)], _ kind: ChangeKind) throws {}
}
