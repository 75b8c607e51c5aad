public import Foundation

/// A failure to read or to keep preferences.
///
/// Its code tells a program what happened, its description tells a person. Neither holds a value of
/// a preference.
public struct PreferencesError: Error, Hashable, Sendable {
  /// What kind of failure it is.
  public let code: Code

  /// What failed, in words: a key or file and what is the matter with it.
  public let message: String

  /// The number of the system behind the failure (`errno`), where there is one.
  public let systemCode: Int32?

  /// Describes a failure; for authors of stores.
  ///
  /// - Parameters:
  ///   - code: What kind of failure it is.
  ///   - message: What failed, without a capital and without a full stop. Never a value.
  ///   - systemCode: The number of the system behind the failure.
  public init(_ code: Code, _ message: String, systemCode: Int32? = nil) {
    self.code = code
    self.message = message
    self.systemCode = systemCode
  }

  /// The kinds of failure.
  ///
  /// More may be added, so a `switch` needs a default.
  public struct Code: Hashable, Sendable {
    private enum Storage {
      case notFound, damaged, inputOutput, unstorable, typeMismatch, unknownKey, readOnly
    }

    private let storage: Storage

    /// There is no such file.
    public static var notFound: Self { Self(storage: .notFound) }

    /// The file is no property list, or its root is no dictionary.
    public static var damaged: Self { Self(storage: .damaged) }

    /// The system could not read or write.
    public static var inputOutput: Self { Self(storage: .inputOutput) }

    /// The store cannot keep the value, or the transformation in front of it can make nothing of it.
    public static var unstorable: Self { Self(storage: .unstorable) }

    /// The key takes values of another type.
    public static var typeMismatch: Self { Self(storage: .typeMismatch) }

    /// There is no such key, nor can it be made.
    public static var unknownKey: Self { Self(storage: .unknownKey) }

    /// The key can be read, but not set.
    public static var readOnly: Self { Self(storage: .readOnly) }
  }
}

extension PreferencesError: LocalizedError, CustomStringConvertible {
  /// What failed: the message.
  public var errorDescription: String? { message }

  /// The message.
  public var description: String { message }
}

extension PreferencesError {
  static func system(_ number: Int32, _ what: String) -> Self {
    Self(
      number == ENOENT ? .notFound : .inputOutput,
      "\(what): \(String(cString: strerror(number)))", systemCode: number)
  }
}
