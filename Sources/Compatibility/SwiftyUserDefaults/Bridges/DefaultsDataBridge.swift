public import Foundation

/// Stores bytes.
public struct DefaultsDataBridge: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = Data

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the bytes themselves.
  public func serialize(_ value: Data) -> Any { value }

  /// Returns the bytes.
  public func deserialize(_ object: Any) -> Data? { object as? Data }
}
