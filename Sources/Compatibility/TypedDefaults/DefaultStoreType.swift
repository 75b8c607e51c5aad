public import Prephirences

/// A store of one value.
public protocol DefaultStoreType<Default> {
  /// The type of the value.
  associatedtype Default: DefaultConvertible

  /// Sets the value; if it cannot be stored, nothing changes, and ``lastError`` has the reason.
  func set(_ value: Default)

  /// Returns the value, or `nil` if there is none or it cannot be read.
  func get() -> Default?

  /// Removes the value.
  func remove()

  /// Sets the value, or throws an error and keeps the old value.
  ///
  /// - Throws: `PreferencesError` with `unstorable` if the store cannot hold the serialized value,
  ///   or the store's own error. The default calls ``set(_:)``, and throws nothing.
  func save(_ value: Default) throws

  /// Returns the value, or `nil` if there is none.
  ///
  /// - Throws: `PreferencesError` with `typeMismatch` if the stored object is not such a value, or
  ///   the store's own error. The default calls ``get()``, and throws nothing.
  func load() throws -> Default?

  /// Why the last ``set(_:)``, ``get()`` or ``remove()`` failed; `nil` if it succeeded, and by
  /// default.
  var lastError: PreferencesError? { get }
}

extension DefaultStoreType {
  /// Sets the value.
  public func save(_ value: Default) throws { set(value) }

  /// Returns the value.
  public func load() throws -> Default? { get() }

  /// `nil`: this store does not record failures.
  public var lastError: PreferencesError? { nil }
}

extension DefaultStoreType {
  /// The preferences whose changes are reported; constant ones if the store has none.
  var observedPreferences: any PreferencesType {
    (self as? any PreferenceBacked)?.backingPreferences ?? DictionaryPreferences(dictionary: [:])
  }

  /// Calls a closure with each change of the value, by this or another process.
  ///
  /// Changes by other processes are reported if the preferences of the store report them, as
  /// `DurablePreferences` does. A store of your own reports no changes.
  ///
  /// - Parameters:
  ///   - initial: Whether to call the closure with the present value before this returns.
  ///   - handler: Receives the new and the old value; `nil` if there is none. It is called on the
  ///     thread that makes the change, or for another process on a thread of the store.
  /// - Returns: The observation, which ends when it is destroyed.
  public func observe(
    initial: Bool = false,
    _ handler: @escaping @Sendable (_ newValue: Default?, _ oldValue: Default?) -> Void
  ) -> PreferenceObservation where Default: SendableMetatype {
    observedPreferences.observe(forKey: Default.key, initial: initial) { change in
      handler(
        change.newValue.flatMap { Default($0) }, change.oldValue.flatMap { Default($0) })
    }
  }

  /// Returns the future changes of the value, as a sequence.
  ///
  /// ```swift
  /// let store = PersistentStore<CameraConfig>()
  /// for await change in store.changes() { print(change.newValue?.size ?? 0) }
  /// ```
  ///
  /// - Parameter initial: Whether the sequence starts with the present value.
  /// - Returns: The sequence; for a slow reader, several changes arrive as one.
  public func changes(initial: Bool = false) -> DefaultChanges<Default> {
    DefaultChanges(observedPreferences.changes(forKey: Default.key, initial: initial))
  }
}

/// A change of the value of a store.
public struct DefaultChange<Default: DefaultConvertible> {
  /// The previous value; `nil` if there was none, or if the change is initial.
  public let oldValue: Default?

  /// The new value; `nil` if it was removed.
  public let newValue: Default?

  /// Whether this is the value at the start of the observation, not a change.
  public let isInitial: Bool

  init(_ change: PreferenceChange) {
    oldValue = change.oldValue.flatMap { Default($0) }
    newValue = change.newValue.flatMap { Default($0) }
    isInitial = change.isInitial
  }
}

extension DefaultChange: Sendable where Default: Sendable {}

/// The changes of the value of a store, as an asynchronous sequence.
///
/// It ends as `PreferenceChanges` does.
public struct DefaultChanges<Default: DefaultConvertible>: AsyncSequence {
  /// A change.
  public typealias Element = DefaultChange<Default>

  /// The sequence does not fail.
  public typealias Failure = Never

  private let changes: PreferenceChanges

  init(_ changes: PreferenceChanges) { self.changes = changes }

  /// Creates an iterator, which waits for the changes.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(changes: changes.makeAsyncIterator())
  }

  /// Waits for changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var changes: PreferenceChanges.AsyncIterator

    /// Waits for the next change; `nil` is the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> DefaultChange<Default>? {
      await changes.next(isolation: actor).map { DefaultChange($0) }
    }
  }
}

extension DefaultChanges: Sendable where Default: Sendable {}

/// A type whose one value a store keeps.
///
/// ```swift
/// struct CameraConfig: Codable, DefaultConvertible {
///   static let key = "CameraConfig"
///   var savesToCameraRoll = true
///   var size = 2
/// }
/// ```
///
/// A `Codable` type needs only the key. Any other type also implements ``init(_:)`` and
/// ``serialize()``.
public protocol DefaultConvertible {
  /// The key of the value.
  static var key: String { get }

  /// Creates the value from what is stored.
  ///
  /// - Parameter object: The result of ``serialize()``, read from the store; numbers are
  ///   `NSNumber`s, which cast to each type that holds them. Another program or an older release
  ///   may have stored it.
  init?(_ object: Any)

  /// Returns what to store for the value.
  ///
  /// - Returns: Text, truth values, numbers, dates, data, URLs, UUIDs, and arrays and dictionaries
  ///   of these. The store refuses any other object, and reports it.
  func serialize() -> Any
}

/// An alias of ``DefaultConvertible``.
public typealias DefaultsConvertible = DefaultConvertible

extension DefaultConvertible where Self: Codable {
  /// Creates the value from a property list object or from JSON data.
  public init?(_ object: Any) {
    guard let value = try? CodableForm.decode(Self.self, from: object, forKey: Self.key) else {
      return nil
    }
    self = value
  }

  /// Returns the value as a property list object: an array, a dictionary or a single value.
  public func serialize() -> Any {
    do throws(PreferencesError) {
      return try CodableForm.encodeObjects(self, forKey: Self.key)
    } catch {
      return Unserializable(error: error)
    }
  }
}

/// Replaces a value that could not be encoded, until the store reports it.
struct Unserializable {
  let error: PreferencesError
}
