public import Foundation
public import Prephirences

/// A failure to encrypt, decrypt or store preferences.
///
/// Programs compare the code, people read the description. Neither contains a value or a cipher's
/// key.
public struct CryptoPrephirencesError: Error, Hashable, Sendable {
  /// The kind of failure.
  public let code: Code

  /// What failed, in words.
  public let message: String

  /// Creates an error; for authors of ciphers.
  ///
  /// - Parameter message: What failed, without a capital letter or full stop. It must not contain a
  ///   secret.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The kinds of failure.
  ///
  /// Later releases may add kinds, so a `switch` needs a default.
  public struct Code: Hashable, Sendable {
    private let name: String

    /// The data is encrypted with another key or passphrase.
    public static var wrongKey: Self { Self(name: "wrongKey") }

    /// The data was changed after encryption, truncated, or moved from another key of the
    /// preferences.
    public static var damaged: Self { Self(name: "damaged") }

    /// The data is not encrypted by this cipher.
    public static var notEncrypted: Self { Self(name: "notEncrypted") }

    /// The data is encrypted in a form that this release does not support.
    public static var unsupported: Self { Self(name: "unsupported") }

    /// The type of the value is neither `Codable` nor `NSCoding`, so it cannot be encrypted.
    public static var unstorable: Self { Self(name: "unstorable") }

    /// The decrypted data is not a value, or not of a type of this program.
    public static var undecodable: Self { Self(name: "undecodable") }

    /// The file does not exist.
    public static var notFound: Self { Self(name: "notFound") }

    /// The system failed to read or write.
    public static var inputOutput: Self { Self(name: "inputOutput") }

    /// There is not enough memory for a key, or the costs of a passphrase exceed the limits.
    public static var unavailable: Self { Self(name: "unavailable") }
  }

  /// The decrypted file is not a property list with a dictionary.
  public static var failedToDeserializePropertyList: Self {
    Self(.undecodable, "the decrypted file is not a property list with a dictionary")
  }

  /// Whether an error has the same code, for `catch` and `switch`.
  public static func ~= (pattern: Self, error: any Error) -> Bool {
    (error as? Self)?.code == pattern.code
  }
}

extension CryptoPrephirencesError: LocalizedError, CustomStringConvertible {
  /// The message: what failed.
  public var errorDescription: String? { message }

  /// The message.
  public var description: String { message }
}

extension CryptoPrephirencesError: PreferencesErrorConvertible {
  /// The failure as an error of preferences, with the same message.
  public var preferencesError: PreferencesError {
    let code: PreferencesError.Code =
      switch self.code {
      case .wrongKey: .locked
      case .damaged, .notEncrypted: .damaged
      case .unsupported: .unsupportedFormat
      case .unstorable: .unstorable
      case .undecodable: .typeMismatch
      case .notFound: .notFound
      default: .inputOutput
      }
    return PreferencesError(code, message)
  }
}

extension CryptoPrephirencesError {
  static var foreignContext: Self {
    Self(.damaged, "the data was changed, or was encrypted for another key of the preferences")
  }

  static var truncated: Self { Self(.damaged, "the encrypted data is truncated") }

  static func unstorable(_ type: Any.Type) -> Self {
    Self(.unstorable, "a value of the type \(type) cannot be encrypted; make the type Codable")
  }

  static var undecodable: Self {
    Self(.undecodable, "the decrypted data is not a value of a type of this program")
  }
}
