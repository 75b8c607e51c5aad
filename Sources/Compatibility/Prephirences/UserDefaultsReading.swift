public import Foundation
internal import PrephirencesSystem

// The protocols' getters have separate names, because `UserDefaults` has methods with the same
// names that convert less. A call on a `UserDefaults` uses those, a call on preferences these.

/// User defaults are preferences.
///
/// Values set through the protocols, subscripts and wrappers are on disk when the call returns, and
/// are read back as they were set, even by another process:
///
/// | set | seen by programs that use `UserDefaults` alone |
/// | --- | --- |
/// | text, truth value, data | the same |
/// | number of any width | a number |
/// | date | the same, in whole seconds |
/// | URL | data: its archive, which `url(forKey:)` reads |
/// | UUID, `Decimal` | data: the archive of its text |
/// | array, dictionary | the same, of these |
///
/// Here, a number is read as an `NSNumber`, which casts to each type that holds it except
/// `CGFloat`: read that as `Double`, or by a `Preference<CGFloat>`. The fraction of a date's second
/// is stored under a separate key with the prefix `PrephirencesExactDates.` A `Decimal` is read as
/// one, so `as? Double` is `nil`, and `double(forKey:)` converts it.
///
/// Keys are compared as `UserDefaults` does, but in dictionaries canonically equivalent keys are
/// the same. Any other value is refused: nothing changes, and ``lastPreferencesError`` has the
/// reason. On Linux, values set by `UserDefaults` itself, for example by `set(1.5, forKey:)` on
/// `UserDefaults.standard`, are saved only by `synchronize()`.
///
/// ``BackedUserDefaults`` read and change their ``BackedUserDefaults/preferences`` instead.
extension UserDefaults: PreferencesType {
  /// This object, if its values are in other preferences.
  var backed: BackedUserDefaults? { self as? BackedUserDefaults }

  /// Returns the value of a key as it was set, or `nil`.
  @_disfavoredOverload
  @_implements(PreferencesType,object(forKey:))
  public func preferenceObject(forKey key: PreferenceKey) -> PreferenceObject? {
    guard let form = object(forKey: key) else { return nil }
    if backed != nil { return form }
    let value = FoundationForm.decode(form)
    guard FoundationForm.hasDates(value) else { return value }
    return FoundationForm.restore(value, object(forKey: ExactDates.key(beside: key)))
  }

  /// Returns all visible defaults, including those that are registered and those of the system.
  public func dictionary() -> PreferencesDictionary {
    if let backed { return backed.dictionaryRepresentation() }
    let forms = dictionaryRepresentation().mapValues(FoundationForm.decode)
    var values: PreferencesDictionary = [:]
    for (key, value) in forms where !ExactDates.isBeside(key) {
      values[key] = FoundationForm.restore(value, forms[ExactDates.key(beside: key)])
    }
    return values
  }

  /// Returns whether a key has a value.
  public func hasObject(forKey key: PreferenceKey) -> Bool { object(forKey: key) != nil }

  /// Returns the text of a key.
  @_disfavoredOverload
  @_implements(PreferencesType,string(forKey:))
  public func preferenceString(forKey key: PreferenceKey) -> String? {
    if let backed { return backed.string(forKey: key) }
    return PreferenceText.of(preferenceObject(forKey: key))
  }

  /// Returns the array of a key.
  @_disfavoredOverload
  @_implements(PreferencesType,array(forKey:))
  public func preferenceArray(forKey key: PreferenceKey) -> [PreferenceObject]? {
    preferenceObject(forKey: key) as? [PreferenceObject]
  }

  /// Returns the dictionary of a key.
  @_disfavoredOverload
  @_implements(PreferencesType,dictionary(forKey:))
  public func preferenceDictionary(forKey key: PreferenceKey) -> PreferencesDictionary? {
    preferenceObject(forKey: key) as? PreferencesDictionary
  }

  /// Returns the array of strings of a key.
  @_disfavoredOverload
  @_implements(PreferencesType,stringArray(forKey:))
  public func preferenceStringArray(forKey key: PreferenceKey) -> [String]? {
    preferenceObject(forKey: key) as? [String]
  }

  /// Returns the integer of a key.
  @_disfavoredOverload
  @_implements(PreferencesType,integer(forKey:))
  public func preferenceInteger(forKey key: PreferenceKey) -> Int {
    PreferenceValue(reading: preferenceObject(forKey: key)).integer
  }

  /// Returns the number of a key, in single precision.
  @_disfavoredOverload
  @_implements(PreferencesType,float(forKey:))
  public func preferenceFloat(forKey key: PreferenceKey) -> Float {
    PreferenceValue(reading: preferenceObject(forKey: key)).float
  }

  /// Returns the number of a key.
  @_disfavoredOverload
  @_implements(PreferencesType,double(forKey:))
  public func preferenceDouble(forKey key: PreferenceKey) -> Double {
    PreferenceValue(reading: preferenceObject(forKey: key)).double
  }

  /// Returns the truth value of a key.
  @_disfavoredOverload
  @_implements(PreferencesType,bool(forKey:))
  public func preferenceBool(forKey key: PreferenceKey) -> Bool {
    PreferenceValue(reading: preferenceObject(forKey: key)).bool
  }

  /// Returns the bytes of a key.
  @_disfavoredOverload
  @_implements(PreferencesType,data(forKey:))
  public func preferenceData(forKey key: PreferenceKey) -> Data? {
    if let backed { return backed.data(forKey: key) }
    return object(forKey: key) as? Data
  }

  /// Returns the URL of a key.
  @_disfavoredOverload
  @_implements(PreferencesType,url(forKey:))
  public func preferenceURL(forKey key: PreferenceKey) -> URL? {
    PreferenceValue(reading: preferenceObject(forKey: key)).url
  }
}

/// User defaults report failures.
///
/// Plain user defaults report those of saving, ``BackedUserDefaults`` also those of reading.
extension UserDefaults: FalliblePreferencesType {
  /// Returns the value of a key, or `nil` if there is none.
  ///
  /// - Throws: For ``BackedUserDefaults``, the error of their preferences if the value cannot be
  ///   read; otherwise nothing.
  public func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    if let backed { return try backed.fetch(key) }
    return preferenceObject(forKey: key)
  }

  /// Sets the value of a key, and saves it; `nil` removes the key.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` for a value that
  ///   cannot be stored; with ``PreferencesError/Code/inputOutput`` if it was set, but not saved.
  public func storeObject(
    _ value: PreferenceObject?, forKey key: PreferenceKey
  ) throws(PreferencesError) {
    try save([(key, value)])
  }

  /// Sets the values of several keys, and saves them in one step; `nil` removes a key.
  ///
  /// - Throws: As ``storeObject(_:forKey:)``; an unsupported value changes nothing.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws(PreferencesError) {
    try save(values.map { ($0.key, $0.value) })
  }

  /// Removes all keys that can be removed, and saves the change; see ``clearAll()``.
  ///
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/inputOutput`` if the change was
  ///   not saved.
  public func removeAllObjects() throws(PreferencesError) {
    clearAll()
    if let lastPreferencesError { throw lastPreferencesError }
  }

  /// Performs changes with the methods of `UserDefaults` itself, saves them, and notifies
  /// observers.
  ///
  /// A refusal that they record stays recorded. ``BackedUserDefaults`` do all of this themselves.
  package func saveChanges(forKeys keys: [PreferenceKey], _ changes: () -> Void) {
    guard backed == nil else { return changes() }
    FailedObjects.shared[self] = nil
    changes()
    defer { UserDefaultsObservers.shared.look(at: keys) }
    guard !UserDefaultsLock.withLock(synchronize) else { return }
    FailedObjects.shared[self] = PreferencesError(
      .inputOutput, "the user defaults could not be saved")
  }
}

extension UserDefaults: CastableNumberPreferences {}

/// The last failures of objects that cannot store them.
///
/// An object has an entry only while it lives and if its last change failed.
final class FailedObjects: Sendable {
  static let shared = FailedObjects()

  private struct Entry {
    weak var object: AnyObject?
    let error: PreferencesError
  }

  // Unchecked because objects are only compared here, by identity.
  private struct Entries: @unchecked Sendable {
    var all: [ObjectIdentifier: Entry] = [:]
  }

  private let entries = PosixMutex(Entries())

  subscript(object: AnyObject) -> PreferencesError? {
    get {
      entries.withLock { [identity = ObjectIdentifier(object)] entries in
        guard let entry = entries.all[identity], entry.object != nil else { return nil }
        return entry.error
      }
    }
    set {
      nonisolated(unsafe) let entry = newValue.map { Entry(object: object, error: $0) }
      entries.withLock { [identity = ObjectIdentifier(object)] entries in
        entries.all[identity] = entry
        if entry != nil { entries.all = entries.all.filter { $1.object != nil } }
      }
    }
  }
}

/// Property lists that Foundation has read or registered, which have objects of any type.
enum FoundationForm {
  /// Reads a value from its form; see ``PropertyListForm/decode(_:)``.
  static func decode(_ form: Any) -> Any {
    mapped(form) { leaf in
      if let data = leaf as? Data { return MarkedArchive.value(of: data)?.object ?? data }
      return leaf is any Numeric ? NumberBoxing.boxed(leaf) : leaf
    }
  }

  /// Returns whether a value contains dates.
  static func hasDates(_ value: Any) -> Bool {
    var found = false
    _ = withDates(value) { date in
      found = true
      return date
    }
    return found
  }

  /// Returns a value with its exact dates, if they still match the value.
  static func restore(_ value: Any, _ list: Any?) -> Any {
    ExactDates.restore(value, list, withDates)
  }

  private static func withDates(_ value: Any, _ body: (Date) -> Date) -> Any {
    mapped(value) { leaf in (leaf as? Date).map(body) ?? leaf }
  }

  /// Returns a value with each part that is no array or dictionary as a function returns it.
  private static func mapped(_ value: Any, _ body: (Any) -> Any) -> Any {
    switch unwrapped(value) {
    case let array as [Any?]: array.compactMap { $0.map { mapped($0, body) } }
    case let dictionary as [String: Any?]:
      dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        .reduce(into: PreferencesDictionary()) { values, pair in
          values[pair.key] = pair.value.map { mapped($0, body) }
        }
    case let leaf?: body(leaf)
    case nil: value
    }
  }
}
