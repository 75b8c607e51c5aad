/// How a ``SwiftyUserDefault`` finds its value.
public struct SwiftyUserDefaultOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: Int

  /// Creates options from their bits.
  ///
  /// - Parameter rawValue: The bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The value is read once, and then kept; changes made elsewhere are not noticed.
  public static let cached = Self(rawValue: 1 << 0)

  /// With ``cached``, changes made elsewhere replace the kept value.
  public static let observed = Self(rawValue: 1 << 2)
}
