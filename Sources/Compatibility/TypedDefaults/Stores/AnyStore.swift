public import Prephirences

/// A store of a type of value, whatever the type of the store.
///
/// ```swift
/// final class Camera {
///   var config = AnyStore(PersistentStore<CameraConfig>())
/// }
///
/// let camera = Camera()
/// camera.config = AnyStore(InMemoryStore<CameraConfig>())  // in a test
/// ```
public final class AnyStore<D: DefaultConvertible>: DefaultStoreType {
  /// The type of the value.
  public typealias Default = D

  private let store: any DefaultStoreType
  private let setValue: (D) -> Void
  private let value: () -> D?
  private let saveValue: (D) throws -> Void
  private let loadValue: () throws -> D?

  /// Creates a store that passes all calls on.
  ///
  /// - Parameter inner: The store that has the value.
  public init<Inner: DefaultStoreType>(_ inner: Inner) where Inner.Default == D {
    store = inner
    setValue = { inner.set($0) }
    value = { inner.get() }
    saveValue = { try inner.save($0) }
    loadValue = { try inner.load() }
  }

  /// Sets the value.
  public func set(_ value: D) { setValue(value) }

  /// Returns the value.
  public func get() -> D? { value() }

  /// Removes the value.
  public func remove() { store.remove() }

  /// Sets the value, and reports a failure.
  public func save(_ value: D) throws { try saveValue(value) }

  /// Returns the value, and reports a failure.
  public func load() throws -> D? { try loadValue() }

  /// Why the last ``set(_:)``, ``get()`` or ``remove()`` failed; `nil` if it succeeded.
  public var lastError: PreferencesError? { store.lastError }
}

extension AnyStore: PreferenceBacked {
  var backingPreferences: any PreferencesType { store.observedPreferences }
}
