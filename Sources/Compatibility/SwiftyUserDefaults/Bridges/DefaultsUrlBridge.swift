public import Foundation
internal import Prephirences

/// Stores a URL; an archive of a URL, and text, are read as URLs.
public struct DefaultsUrlBridge: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = URL

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the URL itself.
  public func serialize(_ value: URL) -> Any { value }

  /// Returns the URL; text with a scheme is read as a URL, other text as a path.
  public func deserialize(_ object: Any) -> URL? { PreferenceConversion(object).url }
}
