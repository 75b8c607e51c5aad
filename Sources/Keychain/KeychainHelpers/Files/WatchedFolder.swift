internal import CPrephirencesSystem
internal import Glibc
package import KeychainCredentials
package import KeychainSecrets
internal import PrephirencesSystem

/// Files with names for the program that takes the place of this process, in a folder in memory
/// that a process of its own removes when that program has ended.
///
/// The folder is in `$XDG_RUNTIME_DIR`. Programs open its files although they close what they
/// inherit, which an ``InheritedFile`` does not survive. It is removed when the program has ended,
/// also by `kill -9`, and no process has the inherited descriptor any more. If the process that
/// removes it is killed, too, the next folder's creation does it. Make it before secrets are read:
/// the process that removes it is forked from this one.
package final class WatchedFolder: Sendable {
  private let path: String
  private let descriptor: Int32

  package init() throws(KeychainError) {
    let variable = "XDG_RUNTIME_DIR"
    guard let named = try translated(EnvironmentVariables.process.absolutePath(variable)) else {
      throw .noRuntimeFolder("\(variable) names no folder")
    }
    let real = try translated(TrustedPath(resolving: named)).path
    let parent = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard parent >= 0 else {
      throw .noRuntimeFolder(
        "'\(real)' in \(variable) cannot be used: " + KeychainError.words(of: errno))
    }
    defer { close(parent) }
    try Self.check(parent, real)
    cinheritedfiles_remove_left(parent)
    var name = [CChar](repeating: 0, count: Int(CINHERITEDFILES_NAME_SIZE))
    let made = cinheritedfiles_make_watched_folder(parent, InheritedFile.lowestNumber, &name)
    guard made >= 0 else { throw .noWatchedFolder(errno: -made) }
    descriptor = made
    path = real + "/" + String(decoding: name.prefix { $0 != 0 }.map { UInt8($0) }, as: UTF8.self)
  }

  deinit { close(descriptor) }

  /// Creates a file that only the user may open.
  ///
  /// Returns its path.
  package func add(
    _ name: String, _ contents: borrowing SecretBytes
  ) throws(KeychainError) -> String {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = openat(descriptor, name, flags, S_IRUSR | S_IWUSR)
    guard file >= 0 else { throw .noWatchedFolder(errno: errno) }
    defer { close(file) }
    do throws(SecretsError) {
      try contents.write(toFileDescriptor: file)
    } catch { throw .noWatchedFolder(errno: error.systemError) }
    return path + "/" + name
  }

  /// Keeps the folder as long as a program has it open that this process becomes or starts.
  package func letChildrenInherit() throws(KeychainError) {
    let failure = cinheritedfiles_share(descriptor)
    guard failure == 0 else { throw .noWatchedFolder(errno: failure) }
  }

  private static func check(_ folder: Int32, _ path: String) throws(KeychainError) {
    var status = stat()
    guard fstat(folder, &status) == 0 else { throw .noWatchedFolder(errno: errno) }
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw .noRuntimeFolder(
        "'\(path)' in XDG_RUNTIME_DIR is not yours alone", code: .insecurePermissions)
    }
    guard cinheritedfiles_is_in_memory(folder) != 0 else {
      throw .noRuntimeFolder(
        "'\(path)' in XDG_RUNTIME_DIR is on a disk, and a secret is not written to one")
    }
  }
}

extension KeychainError {
  /// It may be a folder that others need, such as `/dev/shm`: closing it is no advice.
  fileprivate static func noRuntimeFolder(_ reason: String, code: Code = .refused) -> Self {
    Self(
      code, reason,
      recovery: "set it to a folder of yours in memory: mkdir -m 700 /dev/shm/run-$USER, and "
        + "XDG_RUNTIME_DIR=/dev/shm/run-$USER")
  }

  fileprivate static func noWatchedFolder(errno code: Int32) -> Self {
    let isForbidden = [ENOSYS, EPERM].contains(code)
    return Self(
      isForbidden ? .refused : .inputOutput,
      isForbidden
        ? "this kernel or container has no descriptors of processes (pidfd_open), so nothing would "
          + "remove the files"
        : "a folder in memory cannot be made: " + words(of: code),
      recovery: isForbidden ? "give the secret as a variable, or through a pipe" : nil,
      underlying: .system(errno: code))
  }
}
