public import Foundation

/// A failure to encrypt, to decrypt or to keep encrypted preferences.
///
/// Its code tells a program what happened, its description tells a person. Neither holds a value or
/// a key of a cipher.
public struct CryptoPrephirencesError: Error, Hashable, Sendable {
  /// What kind of failure it is.
  public let code: Code

  /// What failed, in words.
  public let message: String

  /// Describes a failure; for authors of ciphers.
  ///
  /// - Parameters:
  ///   - code: What kind of failure it is.
  ///   - message: What failed, without a capital and without a full stop. Never a secret.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The kinds of failure.
  ///
  /// More may be added, so a `switch` needs a default.
  public struct Code: Hashable, Sendable {
    private enum Storage {
      case wrongKey, damaged, notEncrypted, unsupported, unstorable, undecodable, notFound
      case inputOutput, unavailable
    }

    private let storage: Storage

    /// Encrypted with another key or passphrase.
    public static var wrongKey: Self { Self(storage: .wrongKey) }

    /// Changed since it was encrypted, cut off, or moved from another key of the preferences.
    public static var damaged: Self { Self(storage: .damaged) }

    /// Not encrypted by this cipher at all.
    public static var notEncrypted: Self { Self(storage: .notEncrypted) }

    /// Encrypted in a form that this release does not know.
    public static var unsupported: Self { Self(storage: .unsupported) }

    /// A value of a type that cannot be encrypted: neither `Codable` nor `NSCoding`.
    public static var unstorable: Self { Self(storage: .unstorable) }

    /// Decrypted, but no value, or none of a type of this program.
    public static var undecodable: Self { Self(storage: .undecodable) }

    /// There is no such file.
    public static var notFound: Self { Self(storage: .notFound) }

    /// The system could not read or write.
    public static var inputOutput: Self { Self(storage: .inputOutput) }

    /// No memory for a key, or costs of a passphrase beyond the limits.
    public static var unavailable: Self { Self(storage: .unavailable) }
  }

  /// A file was decrypted, but holds no property list of a dictionary.
  public static var failedToDeserializePropertyList: Self {
    Self(.undecodable, "the decrypted file is no property list of a dictionary")
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

extension CryptoPrephirencesError: LocalizedError, CustomStringConvertible {
  /// What failed: the message.
  public var errorDescription: String? { message }

  /// The message.
  public var description: String { message }
}

extension CryptoPrephirencesError {
  static var foreignContext: Self {
    Self(.damaged, "the data was changed, or was encrypted for another key of the preferences")
  }

  static var truncated: Self { Self(.damaged, "the encrypted data is cut off") }

  static func unstorable(_ type: Any.Type) -> Self {
    Self(.unstorable, "a value of the type \(type) cannot be encrypted; make the type Codable")
  }

  static var undecodable: Self {
    Self(.undecodable, "the decrypted data is no value of a type of this program")
  }
}
