internal import PrephirencesSystem

/// A copy of other preferences; changes are written to them only by a commit.
///
/// ```swift
/// let buffer = BufferPreferences(UserDefaults.standard)
/// buffer["theme"] = "dark"
/// buffer.commit()
/// ```
///
/// It does not see later changes of the other preferences. Several threads may use it at the same
/// time, but only one may commit.
open class BufferPreferences: MutableDictionaryPreferences, ChangeRecording, @unchecked Sendable {
  /// The preferences that a commit changes.
  public let buffered: any MutablePreferencesType

  private let changedKeys = PosixMutex<Set<PreferenceKey>>([])

  /// Copies the values of other preferences.
  ///
  /// - Parameter buffered: The other preferences.
  public init(_ buffered: any MutablePreferencesType) {
    self.buffered = buffered
    super.init(dictionary: buffered.dictionary())
  }

  /// Creates a buffer over preferences in memory, with the elements of a dictionary literal.
  ///
  /// - Parameter elements: The keys, each once, with their values.
  public required convenience init(dictionaryLiteral elements: (PreferenceKey, PreferenceObject)...)
  {
    self.init(
      MutableDictionaryPreferences(
        dictionary: PreferencesDictionary(elements) { _, last in last }))
  }

  /// Whether there are uncommitted changes.
  public var hasChanges: Bool { changedKeys.withLock { !$0.isEmpty } }

  /// Writes the changes since the last commit or rollback to the buffered preferences.
  ///
  /// Other keys there do not change.
  open func commit() {
    let keys = changedKeys.withLock { keys in
      defer { keys = [] }
      return keys
    }
    let changed = dictionary().filter { keys.contains($0.key) }
    for key in keys where changed[key] == nil { buffered.removeObject(forKey: key) }
    if !changed.isEmpty { buffered.set(dictionary: changed) }
  }

  /// Discards the changes since the last commit, and copies the buffered preferences again.
  open func rollback() {
    changedKeys.withLock { $0 = [] }
    storage.replaceAll(with: buffered.dictionary())
    storage.observers.deliverPending()
  }

  // Records a key after its change: a commit between the two leaves the key for the next commit.
  // The other order would lose it.
  package func didChange(_ keys: () -> [PreferenceKey]) {
    changedKeys.withLock { [keys = keys()] in $0.formUnion(keys) }
  }
}
