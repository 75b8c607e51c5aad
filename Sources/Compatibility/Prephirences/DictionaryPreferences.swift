public import PreferencesCore
internal import PrephirencesSystem

/// Read-only preferences in memory.
///
/// ```swift
/// let preferences: DictionaryPreferences = ["myKey": "myValue", "bool": true]
/// ```
///
/// It is safe to use from several threads. Keys are compared like Swift strings: canonically
/// equivalent keys are the same key.
///
/// It is `Sendable` because its state is behind a lock; a program that stores values which must not
/// be shared is responsible for them.
open class DictionaryPreferences: ForwardingPreferences, ExpressibleByDictionaryLiteral,
  @unchecked Sendable
{
  /// The name of a preference.
  public typealias Key = PreferenceKey

  /// A preference value, of any type.
  public typealias Value = PreferenceObject

  package let storage: SharedDictionary

  /// Creates preferences from a dictionary.
  public init(dictionary: PreferencesDictionary) {
    storage = SharedDictionary(dictionary)
  }

  /// Reads preferences from a property list whose root is a dictionary.
  ///
  /// It is `nil` if the file is missing or damaged; ``init(contentsOfFile:)`` reports which.
  public init?(filePath: String) {
    guard let file = try? PropertyListFile(path: filePath).readObjects() else { return nil }
    storage = SharedDictionary(file.values)
  }

  /// Creates preferences from the elements of a dictionary literal.
  public required convenience init(dictionaryLiteral elements: (PreferenceKey, PreferenceObject)...)
  {
    self.init(dictionary: PreferencesDictionary(elements) { _, last in last })
  }

  /// Creates preferences from a dictionary.
  public convenience init(_ dictionary: PreferencesDictionary) {
    self.init(dictionary: dictionary)
  }

  /// Reads preferences from a property list whose root is a dictionary.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/notFound``,
  ///   ``PreferencesError/Code/damaged`` or ``PreferencesError/Code/inputOutput``.
  public convenience init(contentsOfFile path: String) throws(PreferencesError) {
    self.init(dictionary: try PropertyListFile(path: path).readObjects().values)
  }

  /// Copies all values of other preferences.
  public convenience init(preferences: any PreferencesType) {
    self.init(dictionary: preferences.dictionary())
  }

  open override func object(forKey key: PreferenceKey) -> PreferenceObject? { storage[key] }

  open override func dictionary() -> PreferencesDictionary { storage.all }

  open override func hasObject(forKey key: PreferenceKey) -> Bool {
    // A subclass may have other objects.
    let type = type(of: self)
    return type == DictionaryPreferences.self || type == MutableDictionaryPreferences.self
      ? storage.contains(key) : object(forKey: key) != nil
  }

  open override func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    storage.observers.add(observer, of: self)
  }
}

/// Iterates over the elements of a dictionary.
open class DictionaryIteratorAdapter<Key: Hashable, Value>: IteratorProtocol {
  private var iterator: Dictionary<Key, Value>.Iterator

  /// Creates an iterator that starts at the first element.
  public init(_ iterator: Dictionary<Key, Value>.Iterator) {
    self.iterator = iterator
  }

  /// Advances to the next element, or returns `nil` after the last.
  open func next() -> (Key, Value)? {
    iterator.next().map { ($0.key, $0.value) }
  }
}

extension DictionaryPreferences: Sequence {
  /// A key and its value.
  public typealias Element = (Key, Value)

  /// Returns an iterator over the present keys and values, which later changes do not affect.
  public func makeIterator() -> DictionaryIteratorAdapter<Key, Value> {
    DictionaryIteratorAdapter(dictionary().makeIterator())
  }

  /// The key and value at a position of ``dictionary()``, valid until a key is added or removed.
  public subscript(position: DictionaryIndex<Key, Value>) -> Element {
    let element = dictionary()[position]
    return (element.key, element.value)
  }

  /// The value of a key; a missing key has none.
  @_nonoverride public subscript(key: Key?) -> Value? { key.flatMap(object(forKey:)) }
}

/// Preferences in memory that threads share.
///
/// Old values are returned, so that they are destroyed outside the lock. Changes are posted to the
/// observers; the caller must call ``PreferenceObservers/deliverPending()`` after it has released
/// its own lock.
package final class SharedDictionary: Sendable {
  package let observers = PreferenceObservers()

  // Values may be of any type; as with any store of preferences, a program that shares a value
  // between threads is responsible for it.
  private let values: PosixMutex<PreferencesDictionary>

  package init(_ values: PreferencesDictionary = [:]) {
    self.values = PosixMutex(values.droppingNil())
  }

  /// All values by their keys.
  package var all: PreferencesDictionary { values.withLock { $0 } }

  package subscript(key: PreferenceKey) -> PreferenceObject? { values.withLock { $0[key] } }

  func contains(_ key: PreferenceKey) -> Bool {
    values.withLock { $0.index(forKey: key) != nil }
  }

  /// Sets or removes one value.
  @discardableResult
  package func replace(_ key: PreferenceKey, with value: PreferenceObject?) -> PreferenceObject? {
    guard let value = unwrapped(value) else {
      return change(key, to: nil) { $0.removeValue(forKey: key) }
    }
    return change(key, to: value) { $0.updateValue(value, forKey: key) }
  }

  /// Sets one value, which must not be an optional.
  func store(_ value: PreferenceObject, forKey key: PreferenceKey) {
    _ = change(key, to: value) { $0.updateValue(value, forKey: key) }
  }

  private func change(
    _ key: PreferenceKey, to new: @autoclosure () -> PreferenceObject?,
    _ change: (inout PreferencesDictionary) -> PreferenceObject?
  ) -> PreferenceObject? {
    values.withLock { values in
      let old = change(&values)
      if !observers.isEmpty { observers.post([PreferenceChange(key, from: old, to: new())]) }
      return old
    }
  }

  /// Changes several values in one step, of the given keys or of any.
  @discardableResult
  private func update(
    _ keys: [PreferenceKey]? = nil, _ change: (inout PreferencesDictionary) -> Void
  ) -> PreferencesDictionary {
    values.withLock { values in
      let old = values
      change(&values)
      if !observers.isEmpty { post(keys, from: old, to: values) }
      return old
    }
  }

  private func post(
    _ keys: [PreferenceKey]?, from old: PreferencesDictionary, to new: PreferencesDictionary
  ) {
    let keys = keys ?? Array(Set(old.keys).union(new.keys))
    observers.post(keys.sorted().map { PreferenceChange($0, from: old[$0], to: new[$0]) })
  }

  /// Replaces all values in one step.
  @discardableResult
  package func replaceAll(with new: PreferencesDictionary) -> PreferencesDictionary {
    let new = new.droppingNil()
    return update { $0 = new }
  }

  /// Sets several values in one step; other keys keep theirs.
  @discardableResult
  package func merge(_ changes: PreferencesDictionary) -> PreferencesDictionary {
    update(Array(changes.keys)) { values in
      for (key, value) in changes { values[key] = unwrapped(value) }
    }
  }
}

/// The elements of a collection as read-only preferences.
///
/// ```swift
/// let cookies = CollectionPreferencesAdapter(
///   collection: allCookies, mapKey: { $0.name }, mapValue: { $0.value })
/// ```
///
/// A read visits each element; if several elements have the key, the last is used.
open class CollectionPreferencesAdapter<C: Collection>: PreferencesType {
  /// Returns the key of an element.
  public typealias MapPreferenceKey = (C.Iterator.Element) -> PreferenceKey

  /// Returns the value of an element.
  public typealias MapPreferenceObject = (C.Iterator.Element) -> PreferenceObject

  /// The collection.
  public let collection: C

  /// Returns the key of an element.
  public let mapKey: MapPreferenceKey

  /// Returns the value of an element.
  public let mapValue: MapPreferenceObject

  /// Creates preferences from a collection.
  ///
  /// - Parameters:
  ///   - mapKey: Returns the key of an element, always the same for the same element.
  ///   - mapValue: Returns the value of an element.
  public init(
    collection: C, mapKey: @escaping MapPreferenceKey, mapValue: @escaping MapPreferenceObject
  ) {
    self.collection = collection
    self.mapKey = mapKey
    self.mapValue = mapValue
  }

  /// Returns the value of the last element with a key.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    let element = collection.reduce(nil as C.Element?) { mapKey($1) == key ? $1 : $0 }
    return element.flatMap { unwrapped(mapValue($0)) }
  }

  /// Returns the values of all elements by their keys.
  open func dictionary() -> PreferencesDictionary {
    let pairs = collection.map { (mapKey($0), mapValue($0)) }
    return PreferencesDictionary(pairs) { _, last in last }.droppingNil()
  }
}

// Unchecked because nothing shows that the functions may be called on any thread; the reading
// thread calls them.
extension CollectionPreferencesAdapter: @unchecked Sendable where C: Sendable {}
