public import Foundation

/// How preferences are loaded from a URL.
public struct RemoteOptions: Sendable {
  /// How long a connection may take to come about.
  public var connectTimeout = Duration.seconds(10)

  /// How long a load may take in all, with every repetition.
  public var timeout = Duration.seconds(30)

  /// How many bytes an answer may have; a longer one is not read on.
  ///
  /// With its headers and framing, it may take twice as many and 256 KiB.
  public var sizeLimit = 1 << 20

  /// How often to try again after a failure that may pass: no connection, a broken one, or a
  /// status such as 503.
  public var retries = 2

  /// How many redirections to follow.
  ///
  /// From `https` to `http`, none is.
  public var redirectLimit = 5

  /// Whether a URL may begin with `http`, so that others on the way can read and change the values.
  public var allowsPlainHTTP = false

  /// Further headers of the request, such as `Authorization`; other servers do not get them on
  /// redirection.
  public var headers: [String: String] = [:]

  /// The path of a file for the last answer that was good; `nil` for none.
  ///
  /// While the server is not to be had, the values come from there. The file is closed to others.
  public var copyPath: String?

  /// Refuses values by throwing, before any is set.
  public var validate: (@Sendable (PreferencesDictionary) throws -> Void)?

  /// The usual options.
  public init() {}
}

/// The format of an answer.
public enum SerializationFormat: Sendable {
  /// A property list, XML or binary.
  case propertyList(PropertyListSerialization.ReadOptions = [])

  /// JSON.
  case json(JSONSerialization.ReadingOptions = [])

  /// Another format, which a closure reads; its value is a dictionary whose keys are strings.
  case custom(@Sendable (Data) throws -> Any)
}

/// What was loaded.
public struct RemoteOutcome: Sendable {
  /// Where the values came from.
  public enum Origin: Hashable, Sendable {
    /// The server sent them.
    case server

    /// The server said that they are those of the last answer.
    case unchanged

    /// They are those of the last good answer, as there was no good one now.
    case copy
  }

  /// Where the values came from.
  public let origin: Origin

  /// What failed although values were set: the load, if they are a copy's, or else the writing of
  /// the copy.
  public let failure: (any Error)?
}

/// What stands for a URL.
public protocol URLConvertible {
  /// Returns the URL.
  ///
  /// - Returns: The URL.
  /// - Throws: ``RemoteError`` with ``RemoteError/Code/invalidURL``.
  func asURL() throws -> URL
}

extension URL: URLConvertible {
  /// Returns the URL itself.
  public func asURL() -> URL { self }
}

extension String: URLConvertible {
  /// Returns the URL that the text is.
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
