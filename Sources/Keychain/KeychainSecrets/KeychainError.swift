public import FoundationEssentials

/// A failure of a credential store.
///
/// The code is for programs. The description is for people: it says what failed, on which item or
/// file, and what to do next. Neither ever contains a secret, a key or a passphrase.
///
/// A missing credential is not an error: reading returns `nil`, and removing returns `false`.
///
/// ```swift
/// do throws(KeychainError) {
///   if let token = try keychain.string(for: "api") { use(token) }
/// } catch {
///   switch error.code {
///   case .locked: print("unlock the keychain first")
///   case .noStore: print("the keychain is not available here")
///   default: print(error)
///   }
/// }
/// ```
public struct KeychainError: Error, Hashable, Sendable {
  /// A reference, because it makes each call that throws this type smaller.
  private let parts: Parts

  /// The kind of failure.
  public var code: Code { parts.code }

  /// The error code of the system that caused the failure, if there is one.
  public var underlying: Underlying? { parts.underlying }

  /// What failed: an item or file, and what is wrong with it.
  public var message: String { parts.message }

  /// What to do next, if anything can be done.
  public var recovery: Recovery? { parts.recovery }

  /// Creates an error; for authors of stores.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: What failed, without a capital and a full stop. Never include a secret.
  ///   - recovery: What to do next: a string, which can contain actions.
  ///   - underlying: The error code that caused the failure.
  public init(
    _ code: Code, _ message: String, recovery: Recovery? = nil, underlying: Underlying? = nil
  ) {
    parts = Parts(code, message, recovery, underlying, nil)
  }

  /// Creates the error of a quiet store; see ``Attempt``.
  package init(_ code: Code, _ message: String, need: Need) {
    parts = Parts(code, message, nil, nil, need)
  }

  /// The need of a quiet store's operation; `nil` if it failed for another reason.
  package var need: Need? { parts.need }

  private final class Parts: Hashable, Sendable {
    let code: Code
    let message: String
    let recovery: Recovery?
    let underlying: Underlying?
    let need: Need?

    init(
      _ code: Code, _ message: String, _ recovery: Recovery?, _ underlying: Underlying?,
      _ need: Need?
    ) {
      self.code = code
      self.message = message
      self.recovery = recovery
      self.underlying = underlying
      self.need = need
    }

    static func == (left: Parts, right: Parts) -> Bool {
      left.code == right.code && left.message == right.message && left.recovery == right.recovery
        && left.underlying == right.underlying
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(code)
      hasher.combine(message)
      hasher.combine(recovery)
      hasher.combine(underlying)
    }
  }

  /// An error code of the system.
  @nonexhaustive public enum Underlying: Hashable, Sendable {
    /// `errno` of a system call.
    case system(errno: Int32)
  }
}

extension KeychainError: LocalizedError {
  /// What failed: the message.
  public var errorDescription: String? { message }

  /// What to do next, with actions named as the library's API.
  public var recoverySuggestion: String? { recovery?.description }
}

extension KeychainError: CustomStringConvertible {
  /// The message, and what to do next if that is known.
  public var description: String { recovery.map { "\(message) (\($0))" } ?? message }
}

extension KeychainError {
  /// The kinds of failure.
  ///
  /// More may be added, so a `switch` needs a default case.
  public struct Code: Hashable, Sendable {
    private enum Storage {
      case notFound, alreadyExists, versionConflict, invalidArgument, damaged, rolledBack, foreign
      case noStore, internalFailure, inputOutput, timedOut, busy, ambiguous, locked
      case incorrectSecret, refused, unsupportedFormat, otherDevice, insecurePermissions, tooLarge
      case expired, cancelled, insufficientMemory, undecodable, outcomeUnknown
    }

    private let storage: Storage

    /// The item does not exist, but the call needs it.
    ///
    /// Reading returns `nil` instead.
    public static var notFound: Self { Self(storage: .notFound) }

    /// An item of this identity exists already, but the call adds a new one.
    public static var alreadyExists: Self { Self(storage: .alreadyExists) }

    /// The item was changed after the version that the caller expected.
    public static var versionConflict: Self { Self(storage: .versionConflict) }

    /// An argument is invalid.
    public static var invalidArgument: Self { Self(storage: .invalidArgument) }

    /// Stored data is damaged or was tampered with.
    public static var damaged: Self { Self(storage: .damaged) }

    /// The store was replaced by an older copy of itself, or by another store.
    public static var rolledBack: Self { Self(storage: .rolledBack) }

    /// The file is not a vault.
    public static var foreign: Self { Self(storage: .foreign) }

    /// No store is available.
    public static var noStore: Self { Self(storage: .noStore) }

    /// An internal error, which should not happen.
    public static var internalFailure: Self { Self(storage: .internalFailure) }

    /// The system could not read or write, for example because of a full disk, a read-only medium
    /// or a failing device.
    public static var inputOutput: Self { Self(storage: .inputOutput) }

    /// The deadline passed.
    public static var timedOut: Self { Self(storage: .timedOut) }

    /// Another process held the store until the deadline.
    public static var busy: Self { Self(storage: .busy) }

    /// Several items match, and the call needs one.
    public static var ambiguous: Self { Self(storage: .ambiguous) }

    /// The store is locked, and no key is available to unlock it.
    public static var locked: Self { Self(storage: .locked) }

    /// The given passphrase or key is wrong.
    public static var incorrectSecret: Self { Self(storage: .incorrectSecret) }

    /// The store does not allow this.
    public static var refused: Self { Self(storage: .refused) }

    /// The store was written by a newer release.
    public static var unsupportedFormat: Self { Self(storage: .unsupportedFormat) }

    /// The item is bound to another device.
    public static var otherDevice: Self { Self(storage: .otherDevice) }

    /// Other users can access a file or folder.
    public static var insecurePermissions: Self { Self(storage: .insecurePermissions) }

    /// A secret, a name or an answer of the desktop keyring exceeds the limit.
    public static var tooLarge: Self { Self(storage: .tooLarge) }

    /// The credential has expired, and the call does not accept that.
    public static var expired: Self { Self(storage: .expired) }

    /// The person cancelled, or the task was cancelled.
    public static var cancelled: Self { Self(storage: .cancelled) }

    /// There is too little memory for the operation.
    public static var insufficientMemory: Self { Self(storage: .insufficientMemory) }

    /// The secret is not a value of the requested type.
    public static var undecodable: Self { Self(storage: .undecodable) }

    /// The change may or may not have happened: a step failed whose result only the system knows,
    /// such as the last sync of a file.
    ///
    /// Look at the item before you repeat the change, and remove nothing that the changed store may
    /// need. A failure that certainly changed nothing has another code.
    public static var outcomeUnknown: Self { Self(storage: .outcomeUnknown) }
  }
}

extension KeychainError.Code: CustomStringConvertible {
  /// The name of the code.
  public var description: String { "\(storage)" }
}

extension KeychainError {
  /// `errno` of the system call that failed, if one did.
  package var systemError: Int32? {
    guard case .system(let errno)? = underlying else { return nil }
    return errno
  }
}

// Errors of guarded memory and cryptography. A caller that knows the item or file names it.
extension KeychainError {
  static let libraryUnavailable = Self(.internalFailure, "libsodium could not be initialised")

  static let outOfMemory = Self(.insufficientMemory, "there is not enough memory to hold a secret")

  static let notAuthentic = Self(
    .damaged, "the data was not sealed under this key, or was changed")

  package static let wrongLength = Self(
    .invalidArgument, "a key, salt, label or box has the wrong length")

  package static let refusedParameters = Self(
    .invalidArgument, "password-hash parameters are outside the limits")

  static func inputOutput(errno: Int32) -> Self {
    Self(
      .inputOutput, "input or output failed (error number \(errno))",
      underlying: .system(errno: errno))
  }
}

/// Evaluates an expression that opens something sealed; `nil` if its key is another or it was
/// changed.
package func unlessRefused<Result: ~Copyable>(
  _ result: @autoclosure () throws(KeychainError) -> Result
) throws(KeychainError) -> Result? {
  do throws(KeychainError) {
    return try result()
  } catch {
    guard error.code == .damaged else { throw error }
    return nil
  }
}
