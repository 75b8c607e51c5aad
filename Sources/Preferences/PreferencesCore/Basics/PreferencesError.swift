public import FoundationEssentials
internal import Glibc

/// A failure to read or store preferences.
///
/// Programs compare the code, people read the description. Neither contains a value of a
/// preference.
public struct PreferencesError: Error, Hashable, Sendable {
  /// The kind of failure.
  public let code: Code

  /// What failed, in words: the key or file, and the reason.
  public let message: String

  /// The system's error number (`errno`), if a system call failed.
  public let systemCode: Int32?

  /// Creates an error; for authors of stores.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: What failed, without a capital letter or full stop. It must not contain a value.
  ///   - systemCode: The system's error number.
  public init(_ code: Code, _ message: String, systemCode: Int32? = nil) {
    self.code = code
    self.message = message
    self.systemCode = systemCode
  }

  /// The kinds of failure.
  ///
  /// Later releases may add kinds, so a `switch` needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Storage: String {
      case notFound, damaged, inputOutput, unstorable, typeMismatch, unknownKey, readOnly
      case invalidName, noPlace, insecure, unsupportedFormat, timedOut, conflict, forked
      case locked, invalidAddress, unreachable, accessDenied, wrongPassword, foreignStore, overQuota
      case outcomeUnknown, certificate
    }

    private let storage: Storage

    /// The name of the kind, such as `unreachable`.
    public var description: String { storage.rawValue }

    /// The file does not exist.
    public static var notFound: Self { Self(storage: .notFound) }

    /// The file is not a property list, or its root is not a dictionary.
    public static var damaged: Self { Self(storage: .damaged) }

    /// The system failed to read or write.
    public static var inputOutput: Self { Self(storage: .inputOutput) }

    /// The store cannot hold the value, or the transformation cannot convert it.
    public static var unstorable: Self { Self(storage: .unstorable) }

    /// The key accepts values of another type only, or its value is of another type than asked for.
    public static var typeMismatch: Self { Self(storage: .typeMismatch) }

    /// The key does not exist and cannot be created.
    public static var unknownKey: Self { Self(storage: .unknownKey) }

    /// The key, the file or its folder is read-only.
    public static var readOnly: Self { Self(storage: .readOnly) }

    /// The name of a suite is not the name of a file: it is empty, too long, or contains `/`, `..`
    /// or a zero byte.
    public static var invalidName: Self { Self(storage: .invalidName) }

    /// No folder is known for the file, for example because there is no home folder.
    public static var noPlace: Self { Self(storage: .noPlace) }

    /// Other users could read, change or replace the file.
    public static var insecure: Self { Self(storage: .insecure) }

    /// A newer release has written the file.
    public static var unsupportedFormat: Self { Self(storage: .unsupportedFormat) }

    /// Another process used the file for too long.
    public static var timedOut: Self { Self(storage: .timedOut) }

    /// The value was not the expected one, or kept changing.
    public static var conflict: Self { Self(storage: .conflict) }

    /// This process was forked from one that had opened the file, and cannot use it.
    public static var forked: Self { Self(storage: .forked) }

    /// The store is locked, as a keychain without its key.
    public static var locked: Self { Self(storage: .locked) }

    /// The address of a shared store, or another setting of sharing, cannot be used.
    public static var invalidAddress: Self { Self(storage: .invalidAddress) }

    /// The shared store cannot be reached.
    public static var unreachable: Self { Self(storage: .unreachable) }

    /// The shared store does not allow the user to read or change the preferences.
    public static var accessDenied: Self { Self(storage: .accessDenied) }

    /// The certificate of the shared store, or that of this machine, is not accepted: it has expired,
    /// or is for another name, or of another authority.
    public static var certificate: Self { Self(storage: .certificate) }

    /// The shared store does not accept the name and password.
    public static var wrongPassword: Self { Self(storage: .wrongPassword) }

    /// The shared store is not the one with which these preferences were in step.
    public static var foreignStore: Self { Self(storage: .foreignStore) }

    /// Shared preferences would have too many keys or bytes, or a transaction would.
    public static var overQuota: Self { Self(storage: .overQuota) }

    /// The change may have happened, or not: the answer to its last step is missing.
    ///
    /// Read the value before you repeat the change.
    public static var outcomeUnknown: Self { Self(storage: .outcomeUnknown) }
  }
}

extension PreferencesError: LocalizedError, CustomStringConvertible {
  /// The message: what failed.
  public var errorDescription: String? { message }

  /// The message.
  public var description: String { message }
}

extension PreferencesError {
  package static func system(_ number: Int32, _ what: String) -> Self {
    Self(
      number == ENOENT ? .notFound : .inputOutput,
      "\(what): \(String(cString: strerror(number)))", systemCode: number)
  }
}
