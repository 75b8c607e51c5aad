internal import CInheritedFiles
internal import Glibc
public import KeychainCredentials
public import KeychainSecrets

/// A secret as a file that exists only in memory, for a program that reads it from a file.
///
/// The file has no name in any folder. Programs that inherit its descriptor open it by ``path``, any
/// number of times and each from the beginning. It is closed to other users, nobody can change it
/// any more, not even its owner, and it is gone when the last descriptor is closed.
///
/// ```swift
/// let file = try InheritedFile(SecretBytes(copying: token))
/// try file.letChildrenInherit()
/// // Start the program with file.path among its arguments.
/// ```
///
/// Its pages are the kernel's, not guarded memory: they can be written to swap, and other processes of
/// the same user can open the file through `/proc/PID/fd` unless the program protects itself.
///
/// `Process` of Foundation closes all descriptors from 3 on in what it starts, so it cannot hand a file
/// over. Use `posix_spawn` or `execve`.
///
/// The corresponding C functions are `memfd_create` and `fcntl` with `F_ADD_SEALS`.
public final class InheritedFile: Sendable {
  /// The number of the open file, at least 10 since scripts use smaller ones themselves.
  public let descriptor: Int32

  /// The path by which a program that inherits the descriptor opens the file.
  public var path: String { "/dev/fd/\(descriptor)" }

  /// Creates a file that the programs that this process starts do not inherit yet.
  ///
  /// - Parameter contents: The bytes of the file.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `refused` where the system has no files
  ///   in memory, or `inputOutput` if it has too little memory or too few descriptors.
  public init(_ contents: borrowing SecretBytes) throws(KeychainError) {
    let made = cinheritedfiles_create("keychain", Self.lowestNumber)
    guard made >= 0 else { throw .noFileInMemory(errno: -made) }
    descriptor = made
    // From here on, `deinit` closes the file.
    do throws(SecretsError) {
      try contents.write(toFileDescriptor: made)
    } catch {
      throw .noFileInMemory(errno: error.systemError)
    }
    let failure = cinheritedfiles_seal(made)
    guard failure == 0 else { throw .noFileInMemory(errno: failure) }
  }

  deinit { close(descriptor) }

  /// Leaves the file open in every program that this process becomes or starts from now on.
  ///
  /// Call it right before, since another thread may start a program, too.
  ///
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `inputOutput`.
  public func letChildrenInherit() throws(KeychainError) {
    let failure = cinheritedfiles_share(descriptor)
    guard failure == 0 else { throw .noFileInMemory(errno: failure) }
  }

  private static let lowestNumber: Int32 = 10
}

extension KeychainError {
  static func noFileInMemory(errno code: Int32) -> Self {
    let isForbidden = [ENOSYS, EPERM, EACCES, EINVAL].contains(code)
    return Self(
      isForbidden ? .refused : .inputOutput,
      isForbidden
        ? "this kernel or container has no files in memory (memfd_create), and a secret is not "
          + "written to the disk"
        : "a file in memory cannot be made: "
          + (strerror(code).flatMap { String(validatingCString: $0) } ?? "error \(code)"),
      recovery: isForbidden ? "give the secret as a variable, or through a pipe" : nil,
      underlying: .system(errno: code))
  }
}
