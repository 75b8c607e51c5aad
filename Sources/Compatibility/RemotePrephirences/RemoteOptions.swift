public import Foundation

/// How preferences are loaded from a URL.
public struct RemoteOptions: Sendable {
  /// The maximum time to connect.
  public var connectTimeout = Duration.seconds(10)

  /// The maximum time of a load in total, including retries.
  public var timeout = Duration.seconds(30)

  /// The maximum length of an answer in bytes; reading stops when it is exceeded.
  ///
  /// Including headers and framing, an answer may have twice as many bytes plus 256 KiB.
  public var sizeLimit = 1 << 20

  /// The number of retries after a transient failure: no connection, a broken connection, or a
  /// status such as 503.
  public var retries = 2

  /// The maximum number of redirections.
  ///
  /// Redirections from `https` to `http` are never followed.
  public var redirectLimit = 5

  /// Whether a URL may begin with `http`.
  ///
  /// Others on the network can then read and change the values.
  public var allowsPlainHTTP = false

  /// Additional headers of the request, such as `Authorization`; they are not sent to other servers
  /// on redirection.
  public var headers: [String: String] = [:]

  /// The path of a file for the last valid answer; `nil` for none.
  ///
  /// If the server is not available, the values are read from this file. Only its owner can read
  /// it.
  public var copyPath: String?

  /// Validates values before any is set; refuses them by throwing.
  public var validate: (@Sendable (PreferencesDictionary) throws -> Void)?

  /// Creates the default options.
  public init() {}
}

/// The format of an answer.
public enum SerializationFormat: Sendable {
  /// A property list, XML or binary; the options have no effect, because values have Swift's types.
  case propertyList(PropertyListSerialization.ReadOptions = [])

  /// JSON.
  case json(JSONSerialization.ReadingOptions = [])

  /// Another format, which a closure reads; its result must be a dictionary with strings as keys.
  case custom(@Sendable (Data) throws -> Any)
}

/// The result of a load.
public struct RemoteOutcome: Sendable {
  /// The origin of the values.
  public enum Origin: Hashable, Sendable {
    /// The server sent them.
    case server

    /// The server confirmed the values of the last answer.
    case unchanged

    /// The server gave no valid answer, so the values are those of the last valid one.
    case copy
  }

  /// The origin of the values.
  public let origin: Origin

  /// The failure of the load if the values are from the copy, or else of writing the copy; `nil` if
  /// both succeeded.
  public let failure: (any Error)?
}

/// A type that can be converted to a URL.
public protocol URLConvertible {
  /// Returns the URL.
  ///
  /// - Throws: ``RemoteError`` with ``RemoteError/Code/invalidURL``.
  func asURL() throws -> URL
}

extension URL: URLConvertible {
  /// Returns the URL itself.
  public func asURL() -> URL { self }
}

extension String: URLConvertible {
  /// Returns the URL in the text.
  public func asURL() throws -> URL {
    guard let url = URL(string: self) else { throw RemoteError.invalidURL(self) }
    return url
  }
}

extension URLComponents: URLConvertible {
  /// Returns the URL of the components.
  public func asURL() throws -> URL {
    guard let url else { throw RemoteError.invalidURL(description) }
    return url
  }
}
