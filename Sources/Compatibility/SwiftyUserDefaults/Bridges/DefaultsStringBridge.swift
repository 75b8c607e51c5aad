internal import Foundation

/// Stores text; a number is read as its text.
public struct DefaultsStringBridge: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = String

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the text itself.
  public func serialize(_ value: String) -> Any { value }

  /// Returns the text, or the text form of a number.
  public func deserialize(_ object: Any) -> String? {
    if let text = object as? String { return text }
    return (object as? NSNumber)?.stringValue
  }
}
