/// A type whose subscripts are the values of keys: an adapter, or its replacement in a test.
///
/// One subscript of each kind serves optional types and others.
@dynamicMemberLookup
public protocol DefaultsProviding {
  /// The type whose properties are the keys.
  associatedtype KeyStore: DefaultsKeyStore

  /// The value of a key.
  subscript<T: DefaultsSerializable>(key key: DefaultsKey<T>) -> T.T where T.T == T {
    get
    nonmutating set
  }

  /// The value of a key of the key store.
  subscript<T: DefaultsSerializable>(keyPath: KeyPath<KeyStore, DefaultsKey<T>>) -> T.T
  where T.T == T {
    get
    nonmutating set
  }

  /// The value of a key of the key store, written as a member.
  subscript<T: DefaultsSerializable>(
    dynamicMember keyPath: KeyPath<KeyStore, DefaultsKey<T>>
  ) -> T.T where T.T == T {
    get
    nonmutating set
  }
}
