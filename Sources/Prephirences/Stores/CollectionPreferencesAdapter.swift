/// The elements of a collection as preferences that can only be read.
///
/// ```swift
/// let cookies = CollectionPreferencesAdapter(
///   collection: allCookies, mapKey: { $0.name }, mapValue: { $0.value })
/// ```
///
/// A key is looked for from the first element on; of several elements with one key, the first
/// counts.
open class CollectionPreferencesAdapter<C: Collection>: PreferencesType {
  /// Gives the key of an element.
  public typealias MapPreferenceKey = (C.Iterator.Element) -> PreferenceKey

  /// Gives the value of an element.
  public typealias MapPreferenceObject = (C.Iterator.Element) -> PreferenceObject

  /// The collection.
  public let collection: C

  /// Gives the key of an element.
  public let mapKey: MapPreferenceKey

  /// Gives the value of an element.
  public let mapValue: MapPreferenceObject

  /// Makes preferences of a collection.
  ///
  /// - Parameters:
  ///   - collection: The collection.
  ///   - mapKey: Gives the key of an element; of the same element always the same.
  ///   - mapValue: Gives the value of an element.
  public init(
    collection: C, mapKey: @escaping MapPreferenceKey, mapValue: @escaping MapPreferenceObject
  ) {
    self.collection = collection
    self.mapKey = mapKey
    self.mapValue = mapValue
  }

  /// Returns the value of the first element with a key.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    collection.first { mapKey($0) == key }.flatMap { unwrapped(mapValue($0)) }
  }

  /// Returns the values of all elements by their keys.
  open func dictionary() -> PreferencesDictionary {
    let pairs = collection.map { (mapKey($0), mapValue($0)) }
    return PreferencesDictionary(pairs) { first, _ in first }.droppingNil()
  }
}

// Unchecked because nothing can say that the two functions may be called on any thread; they are
// called on the one that reads.
extension CollectionPreferencesAdapter: @unchecked Sendable where C: Sendable {}
