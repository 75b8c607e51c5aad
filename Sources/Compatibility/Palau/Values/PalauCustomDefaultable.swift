/// A type whose values are stored as values of another type.
///
/// ```swift
/// struct Colour: PalauCustomDefaultable {
///   var red: Int, green: Int, blue: Int
///
///   static func toIntermediate(_ colour: Colour) -> [Int] {
///     [colour.red, colour.green, colour.blue]
///   }
///
///   static func fromIntermediate(_ parts: [Int]) -> Colour? {
///     parts.count == 3 ? Colour(red: parts[0], green: parts[1], blue: parts[2]) : nil
///   }
/// }
/// ```
///
/// The intermediate type is one that a property list can hold, a `RawRepresentable` or a `Codable`
/// type.
public protocol PalauCustomDefaultable: PalauDefaultable {
  /// The type that is stored.
  associatedtype IntermediateType

  /// Returns what to store for a value.
  ///
  /// - Parameter value: The value.
  /// - Returns: The intermediate value.
  static func toIntermediate(_ value: Self) -> IntermediateType

  /// Returns the value of what is stored.
  ///
  /// - Parameter intermediate: The intermediate value.
  /// - Returns: The value, or `nil` if it is not valid.
  static func fromIntermediate(_ intermediate: IntermediateType) -> Self?
}
