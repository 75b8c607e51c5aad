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
  ///   - collection: The collection.
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
