internal import Foundation

/// Stores a truth value; text, as in launch arguments, is read as one.
public struct DefaultsBoolBridge: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = Bool

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the truth value itself.
  public func serialize(_ value: Bool) -> Any { value }

  /// Returns the truth value, whether a number is other than 0, or the truth value that a text is.
  ///
  /// `true`, `t`, `yes`, `y` and `1` are true, and `false`, `f`, `no`, `n` and `0` are false, in any
  /// case. Other text is neither.
  public func deserialize(_ object: Any) -> Bool? {
    if let truth = object as? Bool { return truth }
    if let number = object as? NSNumber { return number.boolValue }
    guard let text = object as? String else { return nil }
    return switch text.lowercased() {
    case "true", "t", "yes", "y", "1": true
    case "false", "f", "no", "n", "0": false
    default: nil
    }
  }
}
