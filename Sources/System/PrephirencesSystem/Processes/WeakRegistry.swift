/// Objects that others keep alive, one for each key.
package final class WeakRegistry<Key: Hashable & Sendable, Object: AnyObject & Sendable>: Sendable {
  private struct Entry {
    weak var object: Object?
  }

  private let entries = PosixMutex<[Key: Entry]>([:])

  package init() {}

  /// Returns the object of a key; a new one if nobody has it.
  package func object(for key: Key, _ make: () -> Object) -> Object {
    entries.withLock { entries in
      if let object = entries[key]?.object { return object }
      entries = entries.filter { $1.object != nil }
      let object = make()
      entries[key] = Entry(object: object)
      return object
    }
  }

  /// The objects that somebody has.
  ///
  /// Every program asks at its start: to map even nothing, the runtime would search for
  /// conformances of the dictionary, which took a tenth of the instructions of a `get`.
  package var all: [Object] {
    entries.withLock { $0.isEmpty ? [] : $0.values.compactMap { $0.object } }
  }
}
