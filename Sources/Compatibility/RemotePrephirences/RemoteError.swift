public import Foundation

/// A failure to load preferences from a URL.
///
/// Programs compare the code, people read the description. Neither contains a value or a header.
public struct RemoteError: Error, Hashable, Sendable {
  /// The kind of failure.
  public let code: Code

  /// What failed, in words.
  public let message: String

  /// The status of the server's answer, if that is the failure.
  public let status: Int?

  /// The time that the server asks to wait, in seconds.
  var retryAfter: Int?

  init(_ code: Code, _ message: String, status: Int? = nil, retryAfter: Int? = nil) {
    self.code = code
    self.message = message
    self.status = status
    self.retryAfter = retryAfter
  }

  /// The kinds of failure.
  ///
  /// Later releases may add kinds, so a `switch` needs a default.
  public struct Code: Hashable, Sendable {
    private let name: String

    /// The text is not a URL of a server.
    public static var invalidURL: Self { Self(name: "invalidURL") }

    /// The URL or a redirection is not encrypted, or there are too many redirections.
    public static var refused: Self { Self(name: "refused") }

    /// No connection was possible, or it ended too early.
    public static var unreachable: Self { Self(name: "unreachable") }

    /// The server did not answer in time.
    public static var timedOut: Self { Self(name: "timedOut") }

    /// The server answered with an error status; see ``RemoteError/status``.
    public static var status: Self { Self(name: "status") }

    /// The answer is longer than the limit.
    public static var tooLarge: Self { Self(name: "tooLarge") }

    /// The answer does not have the requested format.
    public static var malformed: Self { Self(name: "malformed") }

    /// The root of the answer is not a dictionary.
    public static var notADictionary: Self { Self(name: "notADictionary") }

    /// The program's own validation refused the values.
    public static var invalid: Self { Self(name: "invalid") }
  }

  /// The root of the answer is not a dictionary.
  public static var notConvertibleToDictionary: Self {
    Self(.notADictionary, "the root of the answer is not a dictionary")
  }

  /// Whether an error has the same code, for `catch` and `switch`.
  public static func ~= (pattern: Self, error: any Error) -> Bool {
    (error as? Self)?.code == pattern.code
  }
}

/// The original library's name for its error.
public typealias AFPPRError = RemoteError

extension RemoteError: LocalizedError, CustomStringConvertible {
  /// The message: what failed.
  public var errorDescription: String? { message }

  /// The message.
  public var description: String { message }
}

extension RemoteError {
  private static let transientStatuses: Set = [408, 425, 429, 500, 502, 503, 504]

  /// Whether the same request may succeed later.
  var isTransient: Bool {
    switch code {
    case .unreachable: true
    case .status: status.map(Self.transientStatuses.contains) ?? false
    default: false
    }
  }

  /// Whether the request itself is wrong, so that an older answer must not replace it.
  var isMisuse: Bool { code == .invalidURL || code == .refused && status == nil }

  static func tooLarge(_ options: RemoteOptions) -> Self {
    Self(.tooLarge, "the answer has more than \(options.sizeLimit) bytes")
  }

  static func invalidURL(_ text: String) -> Self {
    Self(.invalidURL, "'\(text)' is no URL of a server")
  }
}
