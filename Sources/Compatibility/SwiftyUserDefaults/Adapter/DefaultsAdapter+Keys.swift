public import Prephirences

extension DefaultsAdapter {
  /// Why the last value was refused, not saved or unreadable; `nil` if the last change was stored.
  ///
  /// It belongs to ``defaults``, on all threads.
  public var lastPreferencesError: PreferencesError? { defaults.lastPreferencesError }

  /// Returns whether a key has a value, apart from its default.
  ///
  /// - Parameter key: The key.
  /// - Returns: `true` if a value is stored, registered or given as an argument.
  public func hasKey<T: DefaultsSerializable>(_ key: DefaultsKey<T>) -> Bool {
    defaults.hasKey(key)
  }

  /// Returns whether a key of the key store has a value, apart from its default.
  ///
  /// - Parameter keyPath: The key.
  /// - Returns: `true` if a value is stored, registered or given as an argument.
  public func hasKey<T: DefaultsSerializable>(_ keyPath: KeyPath<KeyStore, DefaultsKey<T>>) -> Bool
  {
    defaults.hasKey(keyStore[keyPath: keyPath])
  }

  /// Removes the value of a key, which then has its default.
  ///
  /// - Parameter key: The key.
  public func remove<T: DefaultsSerializable>(_ key: DefaultsKey<T>) { defaults.remove(key) }

  /// Removes the value of a key of the key store, which then has its default.
  ///
  /// - Parameter keyPath: The key.
  public func remove<T: DefaultsSerializable>(_ keyPath: KeyPath<KeyStore, DefaultsKey<T>>) {
    defaults.remove(keyStore[keyPath: keyPath])
  }

  /// Removes all values of the store, also those without a key in the key store.
  public func removeAll() { defaults.removeAll() }
}
