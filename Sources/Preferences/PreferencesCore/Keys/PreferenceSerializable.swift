/// A key that knows the type of its value.
///
/// ```swift
/// extension PreferenceSerializable {
///   static var color: PreferenceSerializable<String?> { .init(rawValue: "color") }
/// }
///
/// preferences[.color] = "red"
/// ```
///
/// For a type that is not optional, a missing value or one of another type reads as the empty
/// value: 0, `false`, or an empty text or collection.
open class PreferenceSerializable<ValueType>: RawRepresentable {
  /// The key.
  public let rawValue: PreferenceKey

  /// Creates a key.
  ///
  /// - Parameter rawValue: The name of the key.
  public required init(rawValue: PreferenceKey) {
    self.rawValue = rawValue
  }
}

// Unchecked because subclasses are responsible for their own state.
extension PreferenceSerializable: @unchecked Sendable {}
