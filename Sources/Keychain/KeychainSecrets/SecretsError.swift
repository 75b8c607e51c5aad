/// A failure of guarded memory or of a cryptographic operation.
///
/// It never contains a secret, a key or an input.
public struct SecretsError: Error, Hashable, Sendable {
  /// What went wrong.
  public let code: Code

  init(_ code: Code) {
    self.code = code
  }

  /// The kinds of failure; more may be added.
  public struct Code: Hashable, Sendable {
    private enum Storage {
      case libraryUnavailable, outOfMemory, authenticationFailed, invalidLength, refusedParameters
      case inputOutput
    }

    private let storage: Storage

    /// libsodium could not be initialised (`sodium_init`).
    public static var libraryUnavailable: Self { Self(storage: .libraryUnavailable) }

    /// There is not enough memory, for an allocation or for a password hash.
    public static var outOfMemory: Self { Self(storage: .outOfMemory) }

    /// A box was not sealed under this key, or was changed since.
    public static var authenticationFailed: Self { Self(storage: .authenticationFailed) }

    /// A key, salt, label, box or padded text has a length that the operation does not accept.
    public static var invalidLength: Self { Self(storage: .invalidLength) }

    /// Password-hash parameters are outside the limits.
    public static var refusedParameters: Self { Self(storage: .refusedParameters) }

    /// Reading or writing a file descriptor failed; see ``SecretsError/systemError``.
    public static var inputOutput: Self { Self(storage: .inputOutput) }
  }

  /// The `errno` behind ``Code/inputOutput``; otherwise 0.
  public internal(set) var systemError: Int32 = 0

  static func inputOutput(errno: Int32) -> Self {
    var error = Self(.inputOutput)
    error.systemError = errno
    return error
  }
}

extension SecretsError: CustomStringConvertible {
  /// What happened, in words, without any value.
  public var description: String {
    switch code {
    case .libraryUnavailable: "libsodium could not be initialised"
    case .outOfMemory: "not enough memory"
    case .authenticationFailed: "the data was not sealed under this key, or was changed"
    case .invalidLength: "a key, salt, label or box has the wrong length"
    case .refusedParameters: "password-hash parameters are outside the limits"
    case .inputOutput: "input or output failed (error number \(systemError))"
    default: "an operation on a secret failed"
    }
  }
}
