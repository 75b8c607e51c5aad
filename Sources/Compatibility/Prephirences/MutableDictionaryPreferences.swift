public import FoundationEssentials
public import PreferencesCore
internal import PrephirencesSystem

/// Preferences in memory.
///
/// ```swift
/// let preferences: MutableDictionaryPreferences = ["myKey": "myValue"]
/// preferences["newKey"] = "newValue"
/// ```
///
/// It is safe to use from several threads.
open class MutableDictionaryPreferences: DictionaryPreferences, MutablePreferencesType,
  @unchecked Sendable
{
  open override subscript(key: PreferenceKey) -> PreferenceObject? {
    get { object(forKey: key) }
    set {
      guard isPlain else { return set(newValue, forKey: key) }
      storage.replace(key, with: newValue)
      storage.observers.deliverPending()
    }
  }

  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    storage.replace(key, with: value)
    notifyChange { [key] }
  }

  open func removeObject(forKey key: PreferenceKey) {
    storage.replace(key, with: nil)
    notifyChange { [key] }
  }

  open func set(_ value: Int, forKey key: PreferenceKey) {
    set(plain: value, forKey: key)
  }

  open func set(_ value: Float, forKey key: PreferenceKey) {
    set(plain: value, forKey: key)
  }

  open func set(_ value: Double, forKey key: PreferenceKey) {
    set(plain: value, forKey: key)
  }

  open func set(_ value: Bool, forKey key: PreferenceKey) {
    set(plain: value, forKey: key)
  }

  open func set(_ value: URL?, forKey key: PreferenceKey) {
    set(value as PreferenceObject?, forKey: key)
  }

  open func set(objectToArchive value: PreferenceObject?, forKey key: PreferenceKey) {
    guard let value = unwrapped(value) else { return removeObject(forKey: key) }
    guard let archive = PreferenceArchive.archive(value) else {
      return didRefuse(.unarchivable(key, type(of: value)), forKey: key)
    }
    set(archive as PreferenceObject?, forKey: key)
  }

  open func clearAll() {
    let removed = storage.replaceAll(with: [:])
    notifyChange { Array(removed.keys) }
  }

  /// Sets the values of several keys in one step; other keys keep theirs.
  open func set(dictionary: PreferencesDictionary) {
    let dictionary = withoutNulls(dictionary)
    storage.merge(dictionary)
    notifyChange { Array(dictionary.keys) }
  }

  /// Does nothing: preferences in memory do not record failures.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {}

  /// Whether no subclass has its own setters, which all others must call.
  private var isPlain: Bool { type(of: self) == MutableDictionaryPreferences.self }

  /// Sets a value that is not an optional.
  private func set<Value>(plain value: Value, forKey key: PreferenceKey) {
    guard isPlain else { return set(value as PreferenceObject?, forKey: key) }
    storage.store(value, forKey: key)
    storage.observers.deliverPending()
  }

  private func notifyChange(_ keys: () -> [PreferenceKey]) {
    if !isPlain { (self as? any ChangeRecording)?.didChange(keys) }
    storage.observers.deliverPending()
  }
}

/// Preferences in memory that also store a change elsewhere before observers are notified.
///
/// It is a protocol, because another module could not override a method that only this package
/// knows.
package protocol ChangeRecording {
  /// Records that the values of keys were changed.
  func didChange(_ keys: () -> [PreferenceKey])
}

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
  public init(_ buffered: any MutablePreferencesType) {
    self.buffered = buffered
    super.init(dictionary: buffered.dictionary())
  }

  /// Creates a buffer over preferences in memory, with the elements of a dictionary literal.
  public required convenience init(dictionaryLiteral elements: (PreferenceKey, PreferenceObject)...)
  {
    self.init(
      MutableDictionaryPreferences(
        dictionary: PreferencesDictionary(elements) { _, last in last }))
  }

  /// Whether there are uncommitted changes.
  public var hasChanges: Bool { changedKeys.withLock { !$0.isEmpty } }

  /// Writes the changes since the last commit or rollback to the buffered preferences, whose other
  /// keys do not change.
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
