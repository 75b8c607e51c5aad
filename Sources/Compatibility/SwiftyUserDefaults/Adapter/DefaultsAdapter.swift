public import Foundation
public import Prephirences
internal import PrephirencesDurable

/// User defaults whose keys are the properties of a type.
///
/// ```swift
/// Defaults.launchCount += 1
/// Defaults[\.username] = "joe"
/// Defaults[key: DefaultsKey<String?>("color")] = "red"
/// ```
///
/// A value is stored when its setter returns. Reads never fail: a missing or unreadable value is
/// the key's default. ``lastPreferencesError`` has what was refused. A change in place, such as
/// `+= 1` or `append`, writes nothing if the stored value could not be read.
@dynamicMemberLookup
public struct DefaultsAdapter<KeyStore: DefaultsKeyStore>: DefaultsProviding {
  /// The store of the values.
  public let defaults: UserDefaults

  /// The keys.
  public let keyStore: KeyStore

  /// Creates an adapter of user defaults.
  ///
  /// - Parameters:
  ///   - defaults: The store. A plain `UserDefaults` is saved after each change; ``DurableUserDefaults``
  ///     is faster, and several processes can use it.
  ///   - keyStore: The keys.
  public init(defaults: UserDefaults, keyStore: KeyStore) {
    self.defaults = defaults
    self.keyStore = keyStore
  }

  /// Creates an adapter of any preferences: durable ones, a keychain, values in memory.
  ///
  /// - Parameters:
  ///   - preferences: The store.
  ///   - keyStore: The keys.
  public init(preferences: any MutablePreferencesType, keyStore: KeyStore) {
    let defaults: UserDefaults =
      switch preferences {
      case let defaults as UserDefaults: defaults
      case let preferences as DurablePreferences: DurableUserDefaults(preferences)
      default: BackedUserDefaults(preferences: preferences)
      }
    self.init(defaults: defaults, keyStore: keyStore)
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
