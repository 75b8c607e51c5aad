internal import Glibc
// Programs that import credentials need their secrets and failures.
@_exported public import KeychainSecrets
package import PrephirencesSystem
package import SystemPackage

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

extension SecretBytes {
  /// Writes the bytes to an open descriptor.
  package borrowing func write(to descriptor: FileDescriptor) throws(Errno) {
    do throws(KeychainError) {
      try write(toFileDescriptor: descriptor.rawValue)
    } catch { throw Errno(rawValue: error.systemError ?? EIO) }
  }
}
