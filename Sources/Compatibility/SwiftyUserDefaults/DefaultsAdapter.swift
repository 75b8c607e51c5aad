public import Foundation
public import Prephirences
internal import PrephirencesDurable
internal import PrephirencesSystem

/// User defaults whose keys are the properties of a type.
///
/// ```swift
/// Defaults.launchCount += 1
/// Defaults[\.username] = "joe"
/// Defaults[key: DefaultsKey<String?>("color")] = "red"
/// ```
///
/// A value is stored when its setter returns. Reads never fail: a missing or unreadable value reads
/// as the key's default. ``lastPreferencesError`` says what was refused. A change in place, such as
/// `+= 1` or `append`, writes nothing if the stored value cannot be read.
@dynamicMemberLookup
public struct DefaultsAdapter<KeyStore: DefaultsKeyStore>: DefaultsProviding {
  /// The store of the values.
  public let defaults: UserDefaults

  /// The keys.
  public let keyStore: KeyStore

  /// Creates an adapter of user defaults.
  ///
  /// - Parameter defaults: The store. A plain `UserDefaults` is saved after each change;
  ///   ``DurableUserDefaults`` is faster, and several processes can use it.
  public init(defaults: UserDefaults, keyStore: KeyStore) {
    self.defaults = defaults
    self.keyStore = keyStore
  }

  /// Creates an adapter of any preferences: durable ones, a keychain, values in memory.
  public init(preferences: any MutablePreferencesType, keyStore: KeyStore) {
    self.init(defaults: .over(preferences), keyStore: keyStore)
  }

  /// The value of a key.
  public subscript<T: DefaultsSerializable>(key key: DefaultsKey<T>) -> T.T where T.T == T {
    @inlinable get { defaults.value(of: key) }
    @inlinable nonmutating set { defaults.setValue(newValue, of: key) }
    nonmutating _modify {
      var (value, isWritable) = defaults.readForChange(key)
      defer { if isWritable { defaults.setValue(value, of: key) } }
      yield &value
    }
  }

  /// The value of a key of the key store.
  public subscript<T: DefaultsSerializable>(keyPath: KeyPath<KeyStore, DefaultsKey<T>>) -> T.T
  where T.T == T {
    @inlinable get { self[key: keyStore[keyPath: keyPath]] }
    @inlinable nonmutating set { self[key: keyStore[keyPath: keyPath]] = newValue }
    nonmutating _modify { yield &self[key: keyStore[keyPath: keyPath]] }
  }

  /// The value of a key of the key store, written as a member.
  public subscript<T: DefaultsSerializable>(
    dynamicMember keyPath: KeyPath<KeyStore, DefaultsKey<T>>
  ) -> T.T where T.T == T {
    @inlinable get { self[key: keyStore[keyPath: keyPath]] }
    @inlinable nonmutating set { self[key: keyStore[keyPath: keyPath]] = newValue }
    nonmutating _modify { yield &self[key: keyStore[keyPath: keyPath]] }
  }
}

// Unchecked because Foundation's `UserDefaults` is not marked as `Sendable`, although every thread
// can use it.
extension DefaultsAdapter: @unchecked Sendable {}

/// The settings of the program, in ``DurablePreferences/standard``.
///
/// To use another store, declare a constant or variable with this name in your program:
///
/// ```swift
/// let Defaults = DefaultsAdapter(preferences: preferences, keyStore: DefaultsKeys())
/// ```
public var Defaults: DefaultsAdapter<DefaultsKeys> {
  get { SharedAdapter.current.withLock { $0 } }
  set { SharedAdapter.current.withLock { $0 = newValue } }
}

/// The adapter behind the variable.
private enum SharedAdapter {
  static let current = PosixMutex(
    DefaultsAdapter<DefaultsKeys>(defaults: DurableUserDefaults.standard, keyStore: .init()))
}

extension DefaultsAdapter {
  /// Why the last value was refused, not saved or unreadable; `nil` if the last change was stored.
  ///
  /// All threads share it, as part of ``defaults``.
  public var lastPreferencesError: PreferencesError? { defaults.lastPreferencesError }

  /// An alias of ``lastPreferencesError``.
  public var lastError: PreferencesError? { lastPreferencesError }

  /// Whether a key has a stored or registered value, or one from an argument, apart from its
  /// default.
  public func hasKey<T: DefaultsSerializable>(_ key: DefaultsKey<T>) -> Bool {
    defaults.hasKey(key)
  }

  /// Whether a key of the key store has a stored or registered value, or one from an argument.
  public func hasKey<T: DefaultsSerializable>(_ keyPath: KeyPath<KeyStore, DefaultsKey<T>>) -> Bool
  {
    defaults.hasKey(keyStore[keyPath: keyPath])
  }

  /// Removes the value of a key; the key then has its default.
  public func remove<T: DefaultsSerializable>(_ key: DefaultsKey<T>) { defaults.remove(key) }

  /// Removes the value of a key of the key store; the key then has its default.
  public func remove<T: DefaultsSerializable>(_ keyPath: KeyPath<KeyStore, DefaultsKey<T>>) {
    defaults.remove(keyStore[keyPath: keyPath])
  }

  /// Removes all values of the store, also those without a key in the key store.
  public func removeAll() { defaults.removeAll() }
}

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
