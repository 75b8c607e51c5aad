internal import Foundation
public import Prephirences
internal import PrephirencesDurable
internal import PrephirencesSystem

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

  /// Creates the store of a suite's value; the name is as for `DurablePreferences`.
  public convenience init(suiteName: String) {
    self.init(preferences: DurablePreferences(suiteName: suiteName))
  }

  /// Creates the store of the value in any preferences.
  ///
  /// - Parameter preferences: `DurablePreferences`, a `UserDefaults`, a keychain, or another store.
  ///   A plain `UserDefaults` is synchronized after each change.
  public init(preferences: any MutablePreferencesType) { stored = StoredDefault(preferences) }

  /// The preferences that hold the value.
  public var preferences: any MutablePreferencesType { stored.preferences }

  /// Sets the value.
  public func set(_ value: Default) { stored.set(value) }

  /// Returns the value.
  public func get() -> Default? { stored.get() }

  /// Removes the value.
  public func remove() { stored.remove() }

  /// Sets the value, or throws an error.
  public func save(_ value: Default) throws { try stored.save(value) }

  /// Returns the value, or throws an error.
  public func load() throws -> Default? { try stored.load() }

  /// Why the last ``set(_:)``, ``get()`` or ``remove()`` failed; `nil` if it succeeded.
  public var lastError: PreferencesError? { stored.lastError }

  /// Waits until the value survives power loss, and returns whether it does.
  @discardableResult
  public func synchronize() -> Bool {
    switch preferences {
    case let defaults as UserDefaults: return defaults.synchronize()
    case let preferences as any SynchronizingPreferences:
      return (try? preferences.synchronize()) != nil
    default: return true
    }
  }

  /// An alias of ``synchronize()``, spelled as in TypedDefaults for Apple's systems.
  @discardableResult
  public func syncronize() -> Bool { synchronize() }
}

extension PersistentStore: PreferenceBacked {
  var backingPreferences: any PreferencesType { preferences }
}

/// A store whose value is in memory, for tests.
///
/// It keeps the result of ``DefaultConvertible/serialize()``, as ``PersistentStore`` does, so tests
/// notice a value that does not survive this. The store can be used from several threads.
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

  /// Sets the value, or throws an error.
  public func save(_ value: Default) throws { try stored.save(value) }

  /// Returns the value, or throws an error.
  public func load() throws -> Default? { try stored.load() }

  /// Why the last ``set(_:)``, ``get()`` or ``remove()`` failed; `nil` if it succeeded.
  public var lastError: PreferencesError? { stored.lastError }
}

extension InMemoryStore: PreferenceBacked {
  var backingPreferences: any PreferencesType { stored.preferences }
}

/// A store of one type of value, of any type of store.
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

  /// Creates a store that forwards all calls to another one.
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

  /// Sets the value, or throws an error.
  public func save(_ value: D) throws { try saveValue(value) }

  /// Returns the value, or throws an error.
  public func load() throws -> D? { try loadValue() }

  /// Why the last ``set(_:)``, ``get()`` or ``remove()`` failed; `nil` if it succeeded.
  public var lastError: PreferencesError? { store.lastError }
}

extension AnyStore: PreferenceBacked {
  var backingPreferences: any PreferencesType { store.observedPreferences }
}

/// A store whose value is in preferences.
protocol PreferenceBacked {
  var backingPreferences: any PreferencesType { get }
}

/// The value of one type in preferences, with the last failure.
final class StoredDefault<Default: DefaultConvertible>: @unchecked Sendable {
  // Unchecked because preferences need not be `Sendable`: they protect their own state.

  let preferences: any MutablePreferencesType
  private let failure = PosixMutex<PreferencesError?>(nil)

  /// Whether values are normalized as a file returns them: numbers become `NSNumber`, and arrays
  /// and dictionaries lose their element types.
  private let normalizes: Bool

  init(_ preferences: any MutablePreferencesType, normalizes: Bool = false) {
    self.preferences = preferences
    self.normalizes = normalizes
  }

  var lastError: PreferencesError? { failure.withLock { $0 } }

  func get() -> Default? { recording { try load() } ?? nil }

  func set(_ value: Default) { recording { try save(value) } }

  func remove() { recording { try preferences.replaceObject(with: nil, forKey: Default.key) } }

  func load() throws -> Default? {
    guard let object = try preferences.fetchedObject(forKey: Default.key) else { return nil }
    guard let value = Default(object) else {
      throw PreferencesError(
        .typeMismatch,
        "the value of the key '\(Default.key)' is no \(Default.self): set one, or remove the key")
    }
    return value
  }

  func save(_ value: Default) throws {
    let object = value.serialize()
    if let failed = object as? Unserializable { throw failed.error }
    // Some stores, such as those in memory, accept anything; here all refuse the same values.
    let form = try PropertyListForm.encode(object, forKey: Default.key)
    try preferences.replaceObject(
      with: normalizes
        ? PropertyListForm.decode(form).object(numbers: NumberBoxing.boxed) : object,
      forKey: Default.key)
  }

  @discardableResult
  private func recording<Result>(_ body: () throws -> Result) -> Result? {
    do {
      let result = try body()
      failure.withLock { $0 = nil }
      return result
    } catch {
      let error = PreferencesError.converting(
        error, "the value of the key '\(Default.key)' could not be read or stored")
      failure.withLock { $0 = error }
      return nil
    }
  }
}
