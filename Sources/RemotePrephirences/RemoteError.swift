public import Foundation

/// A failure to load preferences from a URL.
///
/// Its code tells a program what happened, its description tells a person. Neither holds a value or
/// a header.
public struct RemoteError: Error, Hashable, Sendable {
  /// What kind of failure it is.
  public let code: Code

  /// What failed, in words.
  public let message: String

  /// The status that the server answered, where that is the failure.
  public let status: Int?

  /// How long the server asks to wait, in seconds.
  var retryAfter: Int?

  init(_ code: Code, _ message: String, status: Int? = nil, retryAfter: Int? = nil) {
    self.code = code
    self.message = message
    self.status = status
    self.retryAfter = retryAfter
  }

  /// The kinds of failure.
  ///
  /// More may be added, so a `switch` needs a default.
  public struct Code: Hashable, Sendable {
    private enum Storage {
      case invalidURL, refused, unreachable, timedOut, status, tooLarge, malformed, notADictionary
      case invalid
    }

    private let storage: Storage

    /// The text is no URL of a server.
    public static var invalidURL: Self { Self(storage: .invalidURL) }

    /// The URL or a redirection is not encrypted, or there are too many redirections.
    public static var refused: Self { Self(storage: .refused) }

    /// There was no connection, or it ended too early.
    public static var unreachable: Self { Self(storage: .unreachable) }

    /// The server did not answer in time.
    public static var timedOut: Self { Self(storage: .timedOut) }

    /// The server answered with a status that is no success; see ``RemoteError/status``.
    public static var status: Self { Self(storage: .status) }

    /// The answer is longer than the limit.
    public static var tooLarge: Self { Self(storage: .tooLarge) }

    /// The answer is not of the format.
    public static var malformed: Self { Self(storage: .malformed) }

    /// The root of the answer is no dictionary.
    public static var notADictionary: Self { Self(storage: .notADictionary) }

    /// The program's own validation refused the values.
    public static var invalid: Self { Self(storage: .invalid) }
  }

  /// The root of the answer is no dictionary.
  public static var notConvertibleToDictionary: Self {
    Self(.notADictionary, "the root of the answer is no dictionary")
  }

  /// Returns whether an error is of the same kind, for `catch` and `switch`.
  ///
  /// - Parameters:
  ///   - pattern: The failure to look for.
  ///   - error: Any error.
  /// - Returns: `true` if the codes are equal.
  public static func ~= (pattern: Self, error: any Error) -> Bool {
    (error as? Self)?.code == pattern.code
  }
}

/// The name that the released library gives its error.
public typealias AFPPRError = RemoteError

extension RemoteError: LocalizedError, CustomStringConvertible {
  /// What failed: the message.
  public var errorDescription: String? { message }

  /// The message.
  public var description: String { message }
}

extension RemoteError {
  private static let transientStatuses: Set = [408, 425, 429, 500, 502, 503, 504]

  /// Whether the same request may succeed a moment later.
  var isTransient: Bool {
    switch code {
    case .unreachable: true
    case .status: status.map(Self.transientStatuses.contains) ?? false
    default: false
    }
  }

  /// Whether asking at all is wrong, so that no older answer takes its place.
  var isMisuse: Bool { code == .invalidURL || code == .refused && status == nil }

  static func tooLarge(_ options: RemoteOptions) -> Self {
    Self(.tooLarge, "the answer has more than \(options.sizeLimit) bytes")
  }

  static func invalidURL(_ text: String) -> Self {
    Self(.invalidURL, "'\(text)' is no URL of a server")
  }
}
