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
  /// - Parameter object: What ``serialize()`` returned, read from the store; numbers are
  ///   `NSNumber`s, which cast to each type that holds them. It can also be what another program or
  ///   an older release stored.
  init?(_ object: Any)

  /// Returns what to store for the value.
  ///
  /// - Returns: Text, truth values, numbers, dates, data, URLs, UUIDs, and arrays and dictionaries of
  ///   these. The store refuses any other object, and reports it.
  func serialize() -> Any
}

/// Another spelling of ``DefaultConvertible``.
public typealias DefaultsConvertible = DefaultConvertible
