public import FoundationEssentials
public import PreferencesCore
internal import Synchronization

/// Several preferences combined into one.
///
/// ```swift
/// let preferences: CompositePreferences = [fromFile, UserDefaults.standard, defaults]
/// ```
///
/// A key is read from the first preferences that have it, with their conversions.
open class CompositePreferences: ForwardingPreferences, ExpressibleByArrayLiteral,
  @unchecked Sendable
{
  // Unchecked because the preferences guard themselves; this object does not change.

  /// The preferences, in the order of the search.
  public let array: [any PreferencesType]

  /// The preferences that can be changed.
  public let mutableArray: [any MutablePreferencesType]

  /// The preferences that can only be read.
  public let immutableArray: [any PreferencesType]

  /// Combines several preferences, in the order of the search.
  public init(_ array: [any PreferencesType]) {
    self.array = array
    mutableArray = array.compactMap { $0 as? any MutablePreferencesType }
    immutableArray = array.filter { !($0 is any MutablePreferencesType) }
    super.init()
  }

  /// Combines the preferences of an array literal, in the order of the search.
  public required convenience init(arrayLiteral elements: any PreferencesType...) {
    self.init(elements)
  }

  // Uses indices because iterating would retain each element.

  /// Returns the index of the first preferences that have a key.
  private final func index(of key: PreferenceKey) -> Int? {
    for index in array.indices where array[index].hasObject(forKey: key) { return index }
    return nil
  }

  /// Returns the first preferences that have the key, or else the last, whose answer is used for a
  /// missing key.
  override func resolve(_ key: PreferenceKey) -> (preferences: any PreferencesType, key: String)? {
    guard let last = array.indices.last else { return nil }
    for index in 0..<last where array[index].hasObject(forKey: key) { return (array[index], key) }
    return (array[last], key)
  }

  /// Returns the first preferences that have a key, or `nil`.
  public final func preferences(with key: PreferenceKey) -> (any PreferencesType)? {
    index(of: key).map { array[$0] }
  }

  /// Returns the first preferences that have a key and can be changed, or `nil`.
  public final func mutablePreferences(with key: PreferenceKey) -> (any MutablePreferencesType)? {
    mutableArray.first { $0.hasObject(forKey: key) }
  }

  open override func object(forKey key: PreferenceKey) -> PreferenceObject? {
    guard let last = array.indices.last else { return nil }
    for index in 0..<last {
      let value = array[index].object(forKey: key)
      if value != nil { return value }
    }
    return array[last].object(forKey: key)
  }

  /// The failure of the first preferences that have one.
  open override var lastPreferencesError: PreferencesError? {
    array.lazy.compactMap(\.lastPreferencesError).first
  }

  /// Returns all preferences; a key's value is from the first preferences that have it.
  open override func dictionary() -> PreferencesDictionary {
    array.reversed().reduce(into: [:]) { all, preferences in
      all.merge(preferences.dictionary()) { $1 }
    }
  }

  open override func hasObject(forKey key: PreferenceKey) -> Bool { index(of: key) != nil }

  /// Starts notifying an observer of changes to visible values.
  ///
  /// A change is not reported if earlier preferences in the order hide it. To find visible changes,
  /// this retains the values of the observed keys during the observation.
  open override func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    let comparing = ComparingObservation(observer, of: self)
    let members = array.map { member in
      member.addObserver(
        PreferenceObserver(keys: observer.keys) { comparing.look(at: [$0.key]) })
    }
    comparing.begin()
    return PreferenceObservation {
      comparing.end()
      for member in members { member.cancel() }
    }
  }
}

/// A value of combined preferences is from the first ones that have it.
extension CompositePreferences: OwnValuePreferences {
  /// Returns the value of a key if it is the own one of the first preferences that have it;
  /// otherwise `nil`.
  ///
  /// - Throws: The error of the first member that has the key or cannot read it.
  public func fetchOwnObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    for preferences in array {
      // Checked first, since members that combine others report their failures only here.
      if let own = try preferences.ownObject(forKey: key) { return own }
      if try preferences.fetchedObject(forKey: key) != nil { return nil }
    }
    return nil
  }
}

/// Several preferences combined into one, which can be changed.
///
/// ```swift
/// // Read from all, in this order; changes go to the user's defaults.
/// let preferences: MutableCompositePreferences = [fromFile, UserDefaults.standard]
/// ```
///
/// Changes go to the first mutable preferences, even if others have the key. After a key is removed
/// there, it may still have a value in other preferences. If ``affectOnlyFirstMutable`` is `false`,
/// changes go to all mutable preferences.
open class MutableCompositePreferences: CompositePreferences, MutablePreferencesType,
  @unchecked Sendable
{
  // Unchecked like the superclass.

  private let onlyFirst: Atomic<Bool>

  /// Whether changes go to the first mutable preferences only, which is the default, or to all.
  open var affectOnlyFirstMutable: Bool {
    get { onlyFirst.load(ordering: .sequentiallyConsistent) }
    set { onlyFirst.store(newValue, ordering: .sequentiallyConsistent) }
  }

  /// Combines several preferences, in the order of the search.
  ///
  /// Changes go to the first mutable ones only, or if `affectOnlyFirstMutable` is `false`, to all.
  public init(_ array: [any PreferencesType], affectOnlyFirstMutable: Bool) {
    onlyFirst = Atomic(affectOnlyFirstMutable)
    super.init(array)
  }

  /// Combines several preferences; changes go to the first mutable ones only.
  public override convenience init(_ array: [any PreferencesType]) {
    self.init(array, affectOnlyFirstMutable: true)
  }

  // Uses indices as the superclass does.
  private func change(_ change: (any MutablePreferencesType) -> Void) {
    let end = affectOnlyFirstMutable ? min(1, mutableArray.count) : mutableArray.count
    for index in 0..<end { change(mutableArray[index]) }
  }

  open override subscript(key: PreferenceKey) -> PreferenceObject? {
    get { object(forKey: key) }
    set { set(newValue, forKey: key) }
  }

  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    change { $0[key] = value }
  }

  open func removeObject(forKey key: PreferenceKey) {
    change { $0.removeObject(forKey: key) }
  }

  open func set(_ value: Int, forKey key: PreferenceKey) {
    change { $0.set(value, forKey: key) }
  }

  open func set(_ value: Float, forKey key: PreferenceKey) {
    change { $0.set(value, forKey: key) }
  }

  open func set(_ value: Double, forKey key: PreferenceKey) {
    change { $0.set(value, forKey: key) }
  }

  open func set(_ value: Bool, forKey key: PreferenceKey) {
    change { $0.set(value, forKey: key) }
  }

  open func set(_ value: URL?, forKey key: PreferenceKey) {
    guard let value else { return removeObject(forKey: key) }
    change { $0.set(value, forKey: key) }
  }

  open func set(objectToArchive value: PreferenceObject?, forKey key: PreferenceKey) {
    change { $0.set(objectToArchive: value, forKey: key) }
  }

  /// Sets the values of several keys; other keys keep theirs.
  open func set(dictionary: PreferencesDictionary) {
    change { $0.set(dictionary: dictionary) }
  }

  /// Reports a refused value to the preferences that would have been changed.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    change { $0.didRefuse(error, forKey: key) }
  }

  /// Removes all keys from all mutable preferences.
  open func clearAll() {
    for preferences in mutableArray { preferences.clearAll() }
  }
}

/// Combined preferences report the failures of their members.
extension MutableCompositePreferences: FalliblePreferencesType {
  /// Returns the value of a key from the first preferences that have it, or `nil`.
  ///
  /// - Throws: The error of the first member that has the key or cannot read it: that member could
  ///   have a value that hides those of the others.
  public func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    // A subclass may read values in its own way.
    guard type(of: self) == MutableCompositePreferences.self else { return object(forKey: key) }
    for preferences in array {
      if let value = try preferences.fetchedObject(forKey: key) { return value }
    }
    return nil
  }

  /// Returns all values; a key's value is from the first preferences that have it.
  ///
  /// - Throws: The first error of a member.
  public func fetchDictionary() throws -> PreferencesDictionary {
    guard type(of: self) == MutableCompositePreferences.self else { return dictionary() }
    return try array.reversed().reduce(into: [:]) { all, preferences in
      try all.merge(preferences.fetchedDictionary()) { $1 }
    }
  }

  /// Sets the value of a key in the first mutable preferences or in all; `nil` removes the key.
  ///
  /// - Throws: The first error of a member; members after it did not change.
  public func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    try storeObjects([(key, value)])
  }

  /// Sets the values of several keys in the first mutable preferences or in all; `nil` removes a
  /// key.
  ///
  /// - Throws: The first error of a member; members after it did not change.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws {
    guard type(of: self) == MutableCompositePreferences.self else {
      for (key, value) in values { self[key] = value }
      return
    }
    for preferences in affectOnlyFirstMutable ? Array(mutableArray.prefix(1)) : mutableArray {
      try preferences.replaceObjects(with: values)
    }
  }

  /// Removes all keys from all mutable preferences.
  ///
  /// - Throws: The first error of a member; members after it did not change.
  public func removeAllObjects() throws {
    guard type(of: self) == MutableCompositePreferences.self else { return clearAll() }
    for preferences in mutableArray {
      if let fallible = preferences as? any FalliblePreferencesType {
        try fallible.removeAllObjects()
      } else {
        preferences.clearAll()
      }
    }
  }
}
