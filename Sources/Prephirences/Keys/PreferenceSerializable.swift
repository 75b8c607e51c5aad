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
/// Of a type that is not optional, a value that is missing or of another type reads as the empty one:
/// 0, `false`, or what is empty.
open class PreferenceSerializable<ValueType>: RawRepresentable {
  /// The key.
  public let rawValue: PreferenceKey

  /// Makes a key.
  ///
  /// - Parameter rawValue: Its name.
  public required init(rawValue: PreferenceKey) {
    self.rawValue = rawValue
  }
}

// Of the subclasses that may be, each answers for itself.
extension PreferenceSerializable: @unchecked Sendable {}
