/// Iterates over the elements of a dictionary.
open class DictionaryIteratorAdapter<Key: Hashable, Value>: IteratorProtocol {
  private var iterator: Dictionary<Key, Value>.Iterator

  /// Creates an iterator that starts at the first element.
  ///
  /// - Parameter iterator: The iterator of the dictionary.
  public init(_ iterator: Dictionary<Key, Value>.Iterator) {
    self.iterator = iterator
  }

  /// Advances to the next element.
  ///
  /// - Returns: The element, or `nil` after the last.
  open func next() -> (Key, Value)? {
    iterator.next().map { ($0.key, $0.value) }
  }
}

extension DictionaryPreferences: Sequence {
  /// A key and its value.
  public typealias Element = (Key, Value)

  /// Returns an iterator over the present keys and values.
  ///
  /// - Returns: The iterator, which later changes do not affect.
  public func makeIterator() -> DictionaryIteratorAdapter<Key, Value> {
    DictionaryIteratorAdapter(dictionary().makeIterator())
  }

  /// The key and value at a position of ``dictionary()``.
  ///
  /// - Parameter position: A position, valid until a key is added or removed.
  public subscript(position: DictionaryIndex<Key, Value>) -> Element {
    let element = dictionary()[position]
    return (element.key, element.value)
  }

  /// The value of a key that may be missing.
  ///
  /// - Parameter key: The key; `nil` has no value.
  public subscript(key: Key?) -> Value? { key.flatMap(object(forKey:)) }
}
