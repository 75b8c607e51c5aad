public import FoundationEssentials
package import KeychainSecrets
package import PrephirencesSystem
package import SystemPackage

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
    parts = Parts(code, message, recovery, underlying)
  }

  private final class Parts: Hashable, Sendable {
    let code: Code
    let message: String
    let recovery: Recovery?
    let underlying: Underlying?

    init(_ code: Code, _ message: String, _ recovery: Recovery?, _ underlying: Underlying?) {
      self.code = code
      self.message = message
      self.recovery = recovery
      self.underlying = underlying
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

/// An error that is caused by a failure of a store.
package protocol KeychainFailure: Error {
  /// The failure of the store, with what to do next.
  var failure: KeychainError { get }
}

extension KeychainError {
  /// Translates the failure of a file into one of a credential store.
  package init(_ error: FileError) {
    self.init(
      Code(error.kind), error.message, recovery: error.advice.map { .advice($0) },
      underlying: error.systemError.map { .system(errno: $0.rawValue) })
  }

  /// The name of a new file is taken.
  package static func fileExists(_ path: String, recovery: Recovery = .nameNewFile) -> Self {
    Self(.alreadyExists, FileError(.alreadyExists, path).message, recovery: recovery)
  }

  /// Returns the error for a change that may or may not have happened.
  package static func outcomeUnknown(
    ofChanging name: String, because reason: String = "the last step failed",
    recovery: Recovery = .lookFirst, underlying: Underlying? = nil
  ) -> Self {
    Self(
      .outcomeUnknown, "whether \(name) was changed is not known: \(reason)",
      recovery: recovery, underlying: underlying)
  }

  /// A failed system call on a file.
  package static func system(_ error: Errno, _ action: String, _ path: String) -> Self {
    Self(FileError.failed(error, action, path))
  }
}

extension KeychainError.Code {
  fileprivate init(_ kind: FileError.Kind) {
    self =
      switch kind {
      case .failed: .inputOutput
      case .unsynced: .outcomeUnknown
      case .alreadyExists: .alreadyExists
      case .timedOut, .endless: .timedOut
      case .invalidPath, .notText: .invalidArgument
      case .noPlace: .noStore
      case .insecure: .insecurePermissions
      }
  }
}

/// Evaluates an expression that uses files, and translates its failure.
package func translated<Result: ~Copyable>(
  _ result: @autoclosure () throws(FileError) -> Result
) throws(KeychainError) -> Result { try translating(result) }

/// Calls a closure that uses files, and translates its failure.
package func translating<Result: ~Copyable>(
  _ body: () throws(FileError) -> Result
) throws(KeychainError) -> Result { do { return try body() } catch { throw KeychainError(error) } }

extension KeychainError {
  /// Creates the error for a failure of memory or cryptography that only the machine can have
  /// caused.
  package init(_ error: SecretsError) {
    switch error.code {
    case .outOfMemory: self.init(.insufficientMemory, "there is not enough memory to hold a secret")
    case .inputOutput:
      self.init(.inputOutput, error.description, underlying: .system(errno: error.systemError))
    default: self.init(.internalFailure, error.description)
    }
  }
}

/// Evaluates an expression that uses guarded memory or cryptography, and translates its failure.
package func translated<Result: ~Copyable>(
  secrets result: @autoclosure () throws(SecretsError) -> Result
) throws(KeychainError) -> Result { try translating(result) }

/// Calls a closure that uses guarded memory or cryptography, and translates its failure.
package func translating<Result: ~Copyable>(
  _ body: () throws(SecretsError) -> Result
) throws(KeychainError) -> Result { do { return try body() } catch { throw KeychainError(error) } }

/// Evaluates an expression that opens or reads something guarded; `nil` if it fails with `code`.
package func unlessRefused<Result: ~Copyable>(
  _ result: @autoclosure () throws(SecretsError) -> Result,
  code: SecretsError.Code = .authenticationFailed
) throws(KeychainError) -> Result? {
  do throws(SecretsError) {
    return try result()
  } catch {
    guard error.code == code else { throw KeychainError(error) }
    return nil
  }
}

/// A secret with several owners; it is wiped when the last owner releases it.
package final class SharedSecret: Sendable {
  package let bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

  package convenience init(copying bytes: borrowing SecretBytes) throws(KeychainError) {
    self.init(try translated(secrets: bytes.copy()))
  }

  package func copy() throws(KeychainError) -> SecretBytes { try translated(secrets: bytes.copy()) }
}

extension SecretBytes {
  /// Writes the bytes to an open descriptor.
  package borrowing func write(to descriptor: FileDescriptor) throws(Errno) {
    do throws(SecretsError) {
      try write(toFileDescriptor: descriptor.rawValue)
    } catch { throw Errno(rawValue: error.systemError) }
  }
}
