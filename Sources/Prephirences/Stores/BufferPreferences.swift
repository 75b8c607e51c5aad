internal import Synchronization

/// A copy of other preferences, whose changes go there only when they are committed.
///
/// ```swift
/// let buffer = BufferPreferences(UserDefaults.standard)
/// buffer["theme"] = "dark"
/// buffer.commit()
/// ```
///
/// It does not see what happens to the others in the meantime. Any number of threads may use it at
/// a time, but one commits.
open class BufferPreferences: MutableDictionaryPreferences, @unchecked Sendable {
  /// The preferences to which a commit writes.
  public let buffered: any MutablePreferencesType

  private let changedKeys = Mutex<Set<PreferenceKey>>([])

  /// Copies the values of other preferences.
  ///
  /// - Parameter buffered: The other preferences.
  public init(_ buffered: any MutablePreferencesType) {
    self.buffered = buffered
    super.init(dictionary: buffered.dictionary())
  }

  /// Makes a buffer over preferences in memory that have the elements of a dictionary literal.
  ///
  /// - Parameter elements: The keys, each once, with their values.
  public required convenience init(dictionaryLiteral elements: (PreferenceKey, PreferenceObject)...)
  {
    self.init(
      MutableDictionaryPreferences(
        dictionary: PreferencesDictionary(elements) { _, last in last }))
  }

  /// Whether there are changes that were not committed.
  public var hasChanges: Bool { changedKeys.withLock { !$0.isEmpty } }

  /// Writes to the buffered preferences what was set and removed since the last commit or rollback.
  ///
  /// Keys that were not changed here are left alone there.
  open func commit() {
    let keys = changedKeys.withLock { keys in
      defer { keys = [] }
      return keys
    }
    let changed = dictionary().filter { keys.contains($0.key) }
    for key in keys where changed[key] == nil { buffered.removeObject(forKey: key) }
    if !changed.isEmpty { buffered.set(dictionary: changed) }
  }

  /// Forgets all changes since the last commit, and copies the buffered preferences anew.
  open func rollback() {
    changedKeys.withLock { $0 = [] }
    storage.replaceAll(with: buffered.dictionary())
    storage.observers.tellPosted()
  }

  // A key is noted after its change: a commit between the two leaves it for the next one, while the
  // other way around would lose it.
  override func didChange(_ keys: () -> [PreferenceKey]) {
    changedKeys.withLock { [keys = keys()] in $0.formUnion(keys) }
  }
}
