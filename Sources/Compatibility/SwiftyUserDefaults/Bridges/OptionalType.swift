/// A type that has an empty value; `Optional` is the one.
public protocol OptionalType {
  /// The type of the value when there is one.
  associatedtype Wrapped

  /// The empty value.
  static var __swifty_empty: Self { get }
}

extension Optional: OptionalType {
  /// The empty value: `nil`.
  public static var __swifty_empty: Self { nil }
}
