internal import Foundation
public import Prephirences

/// A store whose value is in memory, for tests.
///
/// It keeps what ``DefaultConvertible/serialize()`` returns, as ``PersistentStore`` does, so a value
/// that does not come back shows in tests. The store can be used from several threads.
public final class InMemoryStore<Default: DefaultConvertible>: DefaultStoreType, @unchecked Sendable
{
  // Unchecked because `StoredDefault` is, which says why.

  private let stored = StoredDefault<Default>(
    MutableDictionaryPreferences(dictionary: [:]), normalizes: true)

  /// Creates an empty store.
  public init() {}

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
}

extension InMemoryStore: PreferenceBacked {
  var backingPreferences: any PreferencesType { stored.preferences }
}
