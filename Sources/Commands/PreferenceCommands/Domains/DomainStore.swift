internal import PreferencesDurable
internal import PreferencesCore
internal import PrephirencesSystem

/// How changes belong together.
enum ChangeKind {
  /// All, or none.
  case asOne

  /// All, or none, and only if what was read is what the engine has, too.
  case conditional

  /// All, or none, on this machine; a shared store gets them in pieces.
  case inPieces
}

/// Where the preferences of a domain are.
protocol DomainStore {
  /// The file or address that has them; `nil` if there is none. Nothing is created.
  func storedPath() throws -> String?

  /// The file or address that would have them, without looking.
  func expectedPath() throws -> String

  /// Whether a change creates its file, also one that is refused; who may refuse it looks before.
  func isWithoutFile() throws -> Bool

  /// Returns the value of a key; `nil` if there is none.
  func value(forKey key: String) throws -> Any?

  /// Returns all keys with their values that can be read, in any order, and why others cannot.
  func pairs() throws -> ReadablePairs

  /// Sets the value of a key; `nil` removes it.
  func set(_ value: Any?, forKey key: String) throws

  /// Removes what has a key that is not text, which no call can name.
  func removeDamagedKeys() throws

  /// Performs reads and changes as one.
  ///
  /// - Parameters:
  ///   - kind: How they belong together.
  ///   - body: Gets the store to read and change. It may be called again if somebody else has changed
  ///     the same keys meanwhile.
  /// - Throws: What the closure throws, or the failure of the store.
  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws

  /// Fails as changes would, without making them; nothing is created.
  ///
  /// - Parameters:
  ///   - changes: The keys with their values; `nil` removes the key.
  ///   - kind: How they belong together.
  /// - Throws: The failure of the store.
  func rehearse(_ changes: [(key: String, value: Any?)], _ kind: ChangeKind) throws

  /// Starts notifying of the changes of everybody.
  ///
  /// - Parameters:
  ///   - keys: The keys, which are compared by their bytes; all if there are none.
  ///   - initial: Whether to report the present values first.
  ///   - end: When to give up beginning; `nil` to try for as long as other calls.
  ///   - changes: Gets the changes, and the failure because of which there will be no more.
  /// - Returns: What ends it, and must be kept until then.
  /// - Throws: The failure because of which nothing is observed, such as too many watches.
  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation]

  /// Why values that `UserDefaults` has saved are not among the preferences, after a change; `nil` if
  /// they are.
  var failureOfImport: PreferencesError? { get }

  /// Waits until all changes are on the disk, and sent if the domain is a shared store.
  ///
  /// - Throws: The failure, also if a change was given up for one of another machine.
  func synchronize() throws
}

extension DomainStore {
  func isWithoutFile() -> Bool { false }
  func removeDamagedKeys() {}
  func rehearse(_ changes: [(key: String, value: Any?)], _ kind: ChangeKind) throws {}
}
