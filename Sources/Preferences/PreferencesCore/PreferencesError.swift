public import FoundationEssentials
internal import Glibc

/// A failure to read or store preferences.
///
/// Programs compare the code, people read the description. Neither contains a value of a
/// preference.
public struct PreferencesError: Error, Hashable, Sendable {
  /// A reference makes each call that throws this type smaller.
  private let parts: Parts

  /// The kind of failure.
  public var code: Code { parts.code }

  /// What failed, in words: the key or file, and the reason.
  public var message: String { parts.message }

  /// The system's error number (`errno`), if a system call failed.
  public var systemCode: Int32? { parts.systemCode }

  /// Creates an error; for authors of stores.
  ///
  /// - Parameters:
  ///   - message: What failed, without a capital letter or full stop. It must not contain a value.
  ///   - systemCode: The system's error number.
  public init(_ code: Code, _ message: String, systemCode: Int32? = nil) {
    parts = Parts(code, message, systemCode)
  }

  private final class Parts: Hashable, Sendable {
    let code: Code
    let message: String
    let systemCode: Int32?

    init(_ code: Code, _ message: String, _ systemCode: Int32?) {
      self.code = code
      self.message = message
      self.systemCode = systemCode
    }

    static func == (left: Parts, right: Parts) -> Bool {
      left.code == right.code && left.message == right.message
        && left.systemCode == right.systemCode
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(code)
      hasher.combine(message)
      hasher.combine(systemCode)
    }
  }

  /// The kinds of failure.
  ///
  /// Later releases may add kinds, so a `switch` needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String

    /// The name of the kind, such as `unreachable`.
    public var description: String { name }

    /// The file does not exist.
    public static var notFound: Self { Self(name: "notFound") }

    /// The file is not a property list, or its root is not a dictionary.
    public static var damaged: Self { Self(name: "damaged") }

    /// Committed changes are missing: the file's log was changed or removed, or an older copy was
    /// restored.
    public static var rolledBack: Self { Self(name: "rolledBack") }

    /// The system failed to read or write.
    public static var inputOutput: Self { Self(name: "inputOutput") }

    /// The store cannot hold the value, or the transformation cannot convert it.
    public static var unstorable: Self { Self(name: "unstorable") }

    /// The key accepts only values of another type, or its value is of another type than requested.
    public static var typeMismatch: Self { Self(name: "typeMismatch") }

    /// The key does not exist and cannot be created.
    public static var unknownKey: Self { Self(name: "unknownKey") }

    /// The key, the file or its folder is read-only.
    public static var readOnly: Self { Self(name: "readOnly") }

    /// The name of a suite is not the name of a file: it is empty, too long, or contains `/`, `..`
    /// or a zero byte.
    public static var invalidName: Self { Self(name: "invalidName") }

    /// No folder is known for the file, for example because there is no home folder.
    public static var noPlace: Self { Self(name: "noPlace") }

    /// Other users could read, change or replace the file.
    public static var insecure: Self { Self(name: "insecure") }

    /// A newer release has written the file.
    public static var unsupportedFormat: Self { Self(name: "unsupportedFormat") }

    /// Another process used the file for too long.
    public static var timedOut: Self { Self(name: "timedOut") }

    /// The value was not the expected one, or kept changing.
    public static var conflict: Self { Self(name: "conflict") }

    /// This process was forked from one that had opened the file, and cannot use it.
    public static var forked: Self { Self(name: "forked") }

    /// The store is locked, as a keychain without its key.
    public static var locked: Self { Self(name: "locked") }

    /// The address of a shared store, or another setting of sharing, cannot be used.
    public static var invalidAddress: Self { Self(name: "invalidAddress") }

    /// The shared store cannot be reached.
    public static var unreachable: Self { Self(name: "unreachable") }

    /// The shared store does not allow the user to read or change the preferences.
    public static var accessDenied: Self { Self(name: "accessDenied") }

    /// The certificate of the shared store, or that of this machine, is not accepted: it has
    /// expired, or is for another name or of another authority.
    public static var certificate: Self { Self(name: "certificate") }

    /// The shared store does not accept the name and password.
    public static var wrongPassword: Self { Self(name: "wrongPassword") }

    /// The shared store is not the one with which these preferences were in step.
    public static var foreignStore: Self { Self(name: "foreignStore") }

    /// Shared preferences, or a transaction, would have too many keys or bytes.
    public static var overQuota: Self { Self(name: "overQuota") }

    /// The answer to the last step is missing, so the change may have happened or not.
    ///
    /// Read the value before you repeat the change.
    public static var outcomeUnknown: Self { Self(name: "outcomeUnknown") }
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

/// The error of a store that can be reported as a ``PreferencesError``; for authors of stores.
public protocol PreferencesErrorConvertible: Error {
  /// The same failure, as an error of preferences.
  ///
  /// Its message must not contain a value.
  var preferencesError: PreferencesError { get }
}

extension PreferencesError: PreferencesErrorConvertible {
  /// The error itself.
  public var preferencesError: PreferencesError { self }
}

extension PreferencesError {
  /// Converts the failure of a store.
  ///
  /// Only the type of an unknown error is part of the message, because its text could contain a
  /// value.
  package static func converting(_ error: any Error, _ what: @autoclosure () -> String) -> Self {
    (error as? any PreferencesErrorConvertible)?.preferencesError
      ?? Self(.inputOutput, "\(what()): the store failed with an error of type \(type(of: error))")
  }
}

extension PreferencesError {
  package static func unstorable(_ type: Any.Type, forKey key: PreferenceKey? = nil) -> Self {
    Self(
      .unstorable,
      "the value\(key.map { " of the key '\($0)'" } ?? "") is of type \(type), or has one in it, "
        + "which cannot be stored; store its raw value or its encoding")
  }

  package static func unstorableValue(_ key: PreferenceKey, _ type: Any.Type) -> Self {
    Self(
      .unstorable,
      "the value of the key '\(key)' is of type \(type), which cannot be stored"
        + (remedy(for: type).map { ": \($0)" } ?? ""))
  }

  /// Returns what to do with a value of a type that property lists do not support.
  private static func remedy(for type: Any.Type) -> String? {
    if type is any PlainPreferenceValue.Type { return nil }
    if type is any RawRepresentable.Type { return "set its rawValue" }
    if type is any Encodable.Type { return "use set(encodable:forKey:) or Preference<\(type)>" }
    return nil
  }

  package static func unarchivable(_ key: PreferenceKey, _ type: Any.Type) -> Self {
    Self(
      .unstorable, "the value of the key '\(key)' is of type \(type), which cannot be archived")
  }

  package static func unencodable(_ key: PreferenceKey, _ type: Any.Type, _ error: any Error)
    -> Self
  {
    var reason = ""
    if case EncodingError.invalidValue(let value, let context) = error {
      let isFinite = (value as? any FloatingPoint)?.isFinite ?? true
      reason = place(context.codingPath) + (isFinite ? "" : ": JSON has only finite numbers")
    }
    return Self(
      .unstorable,
      "the value of the key '\(key)' is of type \(type), which cannot be encoded\(reason)")
  }

  static func undecodable(_ key: PreferenceKey, _ type: Any.Type, _ error: any Error) -> Self {
    let reason =
      switch error as? DecodingError {
      case .typeMismatch(_, let context), .valueNotFound(_, let context):
        "\(place(context.codingPath)): another type is stored"
      case .keyNotFound(let missing, let context):
        "\(place(context.codingPath)): '\(missing.stringValue)' is missing"
      case .dataCorrupted(let context): place(context.codingPath)
      default: ""
      }
    return Self(
      .typeMismatch,
      "the value of the key '\(key)' cannot be decoded as \(type)\(reason)")
  }

  /// The error of a stored value of another type.
  package static func unreadable(_ key: PreferenceKey, _ type: Any.Type) -> Self {
    Self(
      .typeMismatch,
      "the value of the key '\(key)' cannot be read as \(type): read it as its type, or set it")
  }

  /// The error of a change in place of an array that was read without some of its elements.
  package static func shortened(_ key: PreferenceKey) -> Self {
    Self(
      .typeMismatch,
      "the key '\(key)' was not changed, because elements of its array could not be read: set the "
        + "whole array to replace them")
  }

  /// Describes a place in a value; empty for the value itself.
  private static func place(_ codingPath: [any CodingKey]) -> String {
    let path = codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
      .joined(separator: ".")
    return path.isEmpty ? "" : " at '\(path)'"
  }
}

extension PreferencesError {
  package static func untransformable(_ key: PreferenceKey, _ type: Any.Type) -> Self {
    Self(
      .unstorable,
      "the value of the key '\(key)' is of type \(type), which its transformation does not accept")
  }

  package static func irreversible(_ key: PreferenceKey) -> Self {
    Self(
      .unstorable,
      "the value of the key '\(key)' could not be read back: its transformer is not reversible")
  }
}
