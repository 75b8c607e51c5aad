internal import Foundation
public import Prephirences
internal import PrephirencesDurable

/// A store whose value is on disk.
///
/// ```swift
/// let store = PersistentStore<CameraConfig>()
/// store.set(CameraConfig())
/// print(store.get()?.size ?? 0)
/// ```
///
/// A set value is on disk when ``set(_:)`` returns. The store can be used from several threads.
public final class PersistentStore<Default: DefaultConvertible>: DefaultStoreType,
  @unchecked Sendable
{
  // Unchecked because `StoredDefault` is, which says why.

  private let stored: StoredDefault<Default>

  /// Creates the store of the program's value, in `DurableUserDefaults.standard`.
  public convenience init() { self.init(preferences: DurableUserDefaults.standard) }

  /// Creates the store of a suite's value.
  ///
  /// - Parameter suiteName: The name of the suite, as of `DurablePreferences`.
  public convenience init(suiteName: String) {
    self.init(preferences: DurablePreferences(suiteName: suiteName))
  }

  /// Creates the store of the value in any preferences.
  ///
  /// - Parameter preferences: `DurablePreferences`, a `UserDefaults`, a keychain, or another store.
  ///   A plain `UserDefaults` is synchronized after each change.
  public init(preferences: any MutablePreferencesType) { stored = StoredDefault(preferences) }

  /// The preferences that have the value.
  public var preferences: any MutablePreferencesType { stored.preferences }

  /// Sets the value.
  public func set(_ value: Default) { stored.set(value) }

  /// Returns the value.
  public func get() -> Default? { stored.get() }

  /// Removes the value.
  public func remove() { stored.remove() }

  /// Sets the value, and reports a failure.
  public func save(_ value: Default) throws { try stored.save(value) }

  /// Returns the value, and reports a failure.
  public func load() throws -> Default? { try stored.load() }

  /// Why the last ``set(_:)``, ``get()`` or ``remove()`` failed; `nil` if it succeeded.
  public var lastError: PreferencesError? { stored.lastError }

  /// Waits until the value survives power loss, too.
  ///
  /// - Returns: `true` if the value is on disk.
  @discardableResult
  public func synchronize() -> Bool {
    switch preferences {
    case let defaults as UserDefaults: return defaults.synchronize()
    case let preferences as any SynchronizingPreferences:
      return (try? preferences.synchronize()) != nil
    default: return true
    }
  }

  /// The spelling of ``synchronize()`` in TypedDefaults for Apple's systems.
  @discardableResult
  public func syncronize() -> Bool { synchronize() }
}

extension PersistentStore: PreferenceBacked {
  var backingPreferences: any PreferencesType { preferences }
}
