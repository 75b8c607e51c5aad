public import Foundation
internal import Prephirences

extension UserDefaults {
  /// The value of a key.
  public subscript<T: DefaultsSerializable>(key: DefaultsKey<T>) -> T.T where T.T == T {
    @inlinable get { value(of: key) }
    @inlinable set { setValue(newValue, of: key) }
    _modify {
      var (value, isWritable) = readForChange(key)
      defer { if isWritable { setValue(value, of: key) } }
      yield &value
    }
  }

  /// Returns whether a key has a value, apart from its default.
  ///
  /// - Parameter key: The key.
  /// - Returns: `true` if a value is stored, registered or given as an argument.
  public func hasKey<T: DefaultsSerializable>(_ key: DefaultsKey<T>) -> Bool {
    hasObject(forKey: key._key)
  }

  /// Removes the value of a key, and saves the change; the key then has its default.
  ///
  /// - Parameter key: The key.
  public func remove<T: DefaultsSerializable>(_ key: DefaultsKey<T>) {
    removePreference(forKey: key._key)
  }

  /// Removes all values, and saves the change.
  public func removeAll() { clearAll() }
}
