// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import PreferencesDurable
internal import PreferencesShared
public import Prephirences
internal import PrephirencesSystem

/// Preferences that a person or a service has on all machines, with the interface of iCloud's
/// store.
///
/// ```swift
/// let store = NSUbiquitousKeyValueStore.default
/// store.set(30, forKey: "interval")
/// ```
///
/// The values are in ``SharedPreferences``: on this machine, and in step with others if the suite
/// is configured. Without a configuration, the store is local, as Apple's is without an account.
/// All reads are local. Documentation/SharedPreferences.md lists the differences from Apple's.
///
/// A value that cannot be stored, or a key longer than 64 bytes, changes nothing, and
/// ``lastPreferencesError`` has the reason. It is safe to use from several threads.
///
/// Unchecked because every stored property is constant, and safe to use from several threads.
open class NSUbiquitousKeyValueStore: NSObject, @unchecked Sendable {
  /// Posted when values have changed on another machine, or when a change was refused because the
  /// store would have too many keys or bytes.
  ///
  /// The object is the store. The user info has ``NSUbiquitousKeyValueStoreChangeReasonKey`` and
  /// ``NSUbiquitousKeyValueStoreChangedKeysKey``. It is posted on its own thread, or for a refusal
  /// on the thread of the setter, and only after the store was first used.
  public static let didChangeExternallyNotification = NSNotification.Name(
    "NSUbiquitousKeyValueStoreDidChangeExternallyNotification")

  private static let shared = NSUbiquitousKeyValueStore()

  /// The store of the program: the suite with the name of its executable and `.ubiquitous`.
  open class var `default`: NSUbiquitousKeyValueStore { shared }

  /// The preferences that hold the values.
  public final let preferences: SharedPreferences

  private let observation = PosixMutex<PreferenceObservation?>(nil)

  /// Creates a store over the preferences of ``default``.
  public override init() {
    preferences = SharedPreferences(
      suiteName: ProcessInfo.processInfo.processName + ".ubiquitous")
    super.init()
    postExternalChanges()
  }

  /// Creates a store over shared preferences.
  public init(preferences: SharedPreferences) {
    self.preferences = preferences
    super.init()
    postExternalChanges()
  }

  /// Posts the changes of other machines as notifications, while the store exists.
  private func postExternalChanges() {
    let new = preferences.observeExternalChanges { [weak self] change in
      self?.postChange(change.reason, change.keys)
    }
    observation.withLock { $0 = new }
  }

  // MARK: - Reading

  /// Returns the value of a key, or `nil`; a number is an `NSNumber`, which casts to each type that
  /// holds it.
  open func object(forKey aKey: String) -> Any? { preferences.object(forKey: aKey) }

  /// Returns the text of a key, or `nil` if the value is not text.
  open func string(forKey aKey: String) -> String? { object(forKey: aKey) as? String }

  /// Returns the array of a key, or `nil` if the value is not an array.
  open func array(forKey aKey: String) -> [Any]? { object(forKey: aKey) as? [Any] }

  /// Returns the dictionary of a key, or `nil` if the value is not a dictionary.
  open func dictionary(forKey aKey: String) -> [String: Any]? {
    object(forKey: aKey) as? [String: Any]
  }

  /// Returns the bytes of a key, or `nil` if the value is not data.
  open func data(forKey aKey: String) -> Data? { object(forKey: aKey) as? Data }

  /// Returns the integer of a key, or 0 if the value is not a number.
  open func longLong(forKey aKey: String) -> Int64 { number(aKey)?.int64Value ?? 0 }

  /// Returns the number of a key, or 0 if the value is not a number.
  open func double(forKey aKey: String) -> Double { number(aKey)?.doubleValue ?? 0 }

  /// Returns the truth value of a key, or `false` if the value is not a number.
  open func bool(forKey aKey: String) -> Bool { number(aKey)?.boolValue ?? false }

  /// All values by their keys.
  open var dictionaryRepresentation: [String: Any] { preferences.dictionary() }

  private func number(_ key: String) -> NSNumber? {
    switch object(forKey: key) {
    case let truth as Bool: NSNumber(value: truth)
    case let value: value as? NSNumber
    }
  }

  // MARK: - Writing

  /// Sets the value of a key; `nil` removes it.
  ///
  /// - Parameter anObject: Text, a number, a date, data, or an array or dictionary of these.
  open func set(_ anObject: Any?, forKey aKey: String) {
    recording { try store([(aKey, anObject)]) }
  }

  /// Sets the value of a key to text; `nil` removes it.
  open func set(_ aString: String?, forKey aKey: String) { set(aString as Any?, forKey: aKey) }

  /// Sets the value of a key to bytes; `nil` removes it.
  open func set(_ aData: Data?, forKey aKey: String) { set(aData as Any?, forKey: aKey) }

  /// Sets the value of a key to an array; `nil` removes it.
  open func set(_ anArray: [Any]?, forKey aKey: String) { set(anArray as Any?, forKey: aKey) }

  /// Sets the value of a key to a dictionary; `nil` removes it.
  open func set(_ aDictionary: [String: Any]?, forKey aKey: String) {
    set(aDictionary as Any?, forKey: aKey)
  }

  /// Sets the value of a key to an integer.
  open func set(_ value: Int64, forKey aKey: String) { set(value as Any?, forKey: aKey) }

  /// Sets the value of a key to a number.
  open func set(_ value: Double, forKey aKey: String) { set(value as Any?, forKey: aKey) }

  /// Sets the value of a key to a truth value.
  open func set(_ value: Bool, forKey aKey: String) { set(value as Any?, forKey: aKey) }

  /// Removes a key and its value, if any.
  open func removeObject(forKey aKey: String) {
    recording { try store([(aKey, nil)]) }
  }

  /// Waits until the values are on this machine's disk, and reads the changes of other programs.
  ///
  /// It transfers nothing. Calling it is not necessary: values are in the file when a setter
  /// returns.
  ///
  /// - Returns: Whether it succeeded; otherwise ``lastPreferencesError`` has the reason.
  @discardableResult
  open func synchronize() -> Bool {
    recording { try preferences.synchronize() }
  }

  /// The failure of the last call; `nil` if there was none.
  public final var lastPreferencesError: PreferencesError? { preferences.lastError }
}

/// The store can be combined, wrapped and observed like other preferences.
extension NSUbiquitousKeyValueStore: FalliblePreferencesType {
  /// The greatest length of a key, in bytes.
  static let greatestKeyLength = 64

  /// Returns all values by their keys, or none if they cannot be read.
  public func dictionary() -> PreferencesDictionary { dictionaryRepresentation }

  /// Removes a key and its value: a literal `nil` has no type that would select a setter.
  public func set(_ value: _OptionalNilComparisonType, forKey key: PreferenceKey) {
    removeObject(forKey: key)
  }

  /// Sets the values of several keys, or none if it fails; JSON's null values are left out.
  public func set(dictionary: PreferencesDictionary) {
    recording {
      try store(withoutNulls(dictionary).map { ($0.key, $0.value) })
    }
  }

  /// Removes all keys and their values, or none if it fails.
  public func clearAll() { preferences.clearAll() }

  /// Records a refused value as ``lastPreferencesError``.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    preferences.didRefuse(error, forKey: key)
  }

  /// Starts notifying an observer of changes on this machine and others.
  ///
  /// - Returns: The observation, which ends when it is destroyed.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    preferences.addObserver(observer)
  }

  /// Returns the value of a key, or `nil` if there is none.
  ///
  /// - Throws: ``PreferencesError`` if the value cannot be read.
  public func fetchObject(forKey key: PreferenceKey) throws(PreferencesError) -> PreferenceObject? {
    try preferences.fetchObject(forKey: key)
  }

  /// Returns all values.
  ///
  /// - Throws: ``PreferencesError`` if they cannot be read.
  public func fetchDictionary() throws(PreferencesError) -> PreferencesDictionary {
    try preferences.fetchDictionary()
  }

  /// Sets the value of a key; `nil` removes the key.
  ///
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/overQuota`` if the key is too
  ///   long, or the store would have too many keys or bytes.
  public func storeObject(
    _ value: PreferenceObject?, forKey key: PreferenceKey
  ) throws(PreferencesError) {
    try store([(key, value)])
  }

  /// Sets or removes the values of several keys, or none if it fails; `nil` removes a key.
  ///
  /// - Throws: ``PreferencesError`` as ``storeObject(_:forKey:)``.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws(PreferencesError) {
    try store(values)
  }

  /// Removes all keys and their values, or throws ``PreferencesError`` and removes none.
  public func removeAllObjects() throws(PreferencesError) { try preferences.removeAllObjects() }

  // MARK: - Storing

  func store(_ values: [(key: PreferenceKey, value: PreferenceObject?)]) throws(PreferencesError) {
    if let long = values.first(where: { $0.key.utf8.count > Self.greatestKeyLength }) {
      throw PreferencesError(
        .overQuota,
        "the key '\(long.key)' has more than \(Self.greatestKeyLength) bytes; use a shorter one")
    }
    do throws(PreferencesError) {
      try preferences.storeObjects(values)
    } catch {
      if error.code == .overQuota { postChange(.quotaViolation, values.map(\.key)) }
      throw error
    }
  }

  /// Performs a call that does not throw, and records its failure.
  @discardableResult
  func recording(_ body: () throws -> Void) -> Bool {
    preferences.durable.recorded(body) != nil
  }

  func postChange(_ reason: SharedPreferences.ExternalChange.Reason, _ keys: [PreferenceKey]) {
    NotificationCenter.default.post(
      name: Self.didChangeExternallyNotification, object: self,
      userInfo: [
        NSUbiquitousKeyValueStoreChangeReasonKey: NSNumber(value: reason.rawValue),
        NSUbiquitousKeyValueStoreChangedKeysKey: keys,
      ])
  }
}

extension NSUbiquitousKeyValueStore: CastableNumberPreferences {}

extension NSUbiquitousKeyValueStore: ExactKeyPreferences {
  package func pairs() -> [(PreferenceKey, PreferenceObject?)] { preferences.pairs() }
}

extension NSUbiquitousKeyValueStore: ChangeReportingPreferences {
  package func observeChanges(_ handler: @escaping @Sendable () -> Void) -> PreferenceObservation {
    preferences.observeChanges(handler)
  }
}

// The names are Apple's.

/// The key of the user info for why values have changed: an `NSNumber`.
public let NSUbiquitousKeyValueStoreChangeReasonKey = "NSUbiquitousKeyValueStoreChangeReasonKey"

/// The key of the user info for the changed and removed keys: an array of strings.
public let NSUbiquitousKeyValueStoreChangedKeysKey = "NSUbiquitousKeyValueStoreChangedKeysKey"

/// The reason that another machine has changed values.
public var NSUbiquitousKeyValueStoreServerChange: Int { 0 }

/// The reason that the store is in step for the first time.
public var NSUbiquitousKeyValueStoreInitialSyncChange: Int { 1 }

/// The reason that a change was refused, because the store would have too many keys or bytes.
public var NSUbiquitousKeyValueStoreQuotaViolationChange: Int { 2 }

/// The reason that the store uses another shared store from now on.
public var NSUbiquitousKeyValueStoreAccountChange: Int { 3 }
