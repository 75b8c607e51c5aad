internal import CPrephirencesSystem
internal import Glibc
internal import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesSystem

/// A secret as a file that exists only in memory, for a program that reads it from a file.
///
/// The file has no name in any folder. Programs that inherit its descriptor open it by ``path``,
/// any number of times, each time from the beginning. Other users cannot open it, nobody can change
/// it, not even its owner, and it disappears when the last descriptor is closed.
///
/// ```swift
/// let file = try InheritedFile(SecretBytes(copying: token))
/// try file.letChildrenInherit()
/// // Start the program with file.path among its arguments.
/// ```
///
/// Its pages are the kernel's, not guarded memory: they can be written to swap, and other processes
/// of the same user can open the file through `/proc/PID/fd` unless the program protects itself.
///
/// `Process` of Foundation closes all descriptors from 3 on in the programs that it starts, so it
/// cannot pass a file on. Use `posix_spawn` or `execve`.
///
/// The corresponding C functions are `memfd_create` and `fcntl` with `F_ADD_SEALS`.
public final class InheritedFile: Sendable {
  /// The number of the open file, at least 10 because scripts use smaller ones.
  public let descriptor: Int32

  /// The path by which a program that inherits the descriptor opens the file.
  ///
  /// It needs `/proc`. In a program that does not inherit the descriptor, it is another file or
  /// missing.
  public var path: String { "/dev/fd/\(descriptor)" }

  /// Returns a path for the program that replaces this process, and for all programs that it
  /// starts.
  ///
  /// It is valid as long as that program runs and keeps the file open. Where processes have other
  /// numbers than in `/proc`, this is ``path``.
  package func pathInThisProcess() throws(KeychainError) -> String {
    let paths = ["/proc/\(getpid())/fd/\(descriptor)", path]
    guard let found = paths.first(where: leads) else { throw .noProcessFiles }
    return found
  }

  /// Whether a path leads to the file.
  private func leads(_ path: String) -> Bool {
    var (own, named) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && stat(path, &named) == 0
      && own.st_dev == named.st_dev && own.st_ino == named.st_ino
  }

  /// Creates a file that programs started by this process do not inherit yet.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `refused` if the system has no files in
  ///   memory, or `inputOutput` if it has too little memory or too few descriptors.
  public init(_ contents: borrowing SecretBytes) throws(KeychainError) {
    let made = cinheritedfiles_create("keychain", Self.lowestNumber)
    guard made >= 0 else { throw .noFileInMemory(errno: -made) }
    descriptor = made
    // From here on, `deinit` closes the file.
    do throws(KeychainError) {
      try contents.write(toFileDescriptor: made)
    } catch { throw .noFileInMemory(errno: error.systemError ?? EIO) }
    let failure = cinheritedfiles_seal(made)
    guard failure == 0 else { throw .noFileInMemory(errno: failure) }
  }

  deinit { close(descriptor) }

  /// Lets every program that this process becomes or starts from now on inherit the file.
  ///
  /// Call it immediately before the start, because another thread may start a program, too.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `inputOutput`.
  public func letChildrenInherit() throws(KeychainError) {
    let failure = cinheritedfiles_share(descriptor)
    guard failure == 0 else { throw .noFileInMemory(errno: failure) }
  }

  static let lowestNumber: Int32 = 10
}

extension KeychainError {
  static func noFileInMemory(errno code: Int32) -> Self {
    let isForbidden = [ENOSYS, EPERM, EACCES, EINVAL].contains(code)
    return Self(
      isForbidden ? .refused : .inputOutput,
      isForbidden
        ? "this kernel or container has no files in memory (memfd_create), and a secret is not "
          + "written to the disk"
        : "a file in memory cannot be made: " + words(of: code),
      recovery: isForbidden ? "give the secret as a variable, or through a pipe" : nil,
      underlying: .system(errno: code))
  }

  fileprivate static let noProcessFiles = KeychainError(
    .refused, "/proc is not mounted, and no program could open a file in memory",
    recovery: "mount /proc, or give the secret as a variable, or through a pipe")

  /// The system's text for an error.
  static func words(of code: Int32) -> String {
    strerror(code).flatMap { String(validatingCString: $0) } ?? "error \(code)"
  }
}

/// Named files for the program that replaces this process, in a folder in memory that a separate
/// process removes when the program has ended.
///
/// The folder is in `$XDG_RUNTIME_DIR`. Programs can open its files even if they close inherited
/// descriptors, as an ``InheritedFile`` needs. It is removed when the program has ended, also by
/// `kill -9`, and no process has the inherited descriptor any more. If the removing process is
/// killed, too, the next creation of a folder removes this one.
///
/// The removing process is forked from this one, so create the folder before secrets are read. In a
/// container, the first process (PID 1) becomes the removing process itself, and its child
/// continues: so create the folder before threads are started.
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

  /// Creates a file that only the user may open, and returns its path.
  package func add(
    _ name: String, _ contents: borrowing SecretBytes
  ) throws(KeychainError) -> String {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = openat(descriptor, name, flags, S_IRUSR | S_IWUSR)
    guard file >= 0 else { throw .noWatchedFolder(errno: errno) }
    defer { close(file) }
    do throws(KeychainError) {
      try contents.write(toFileDescriptor: file)
    } catch { throw .noWatchedFolder(errno: error.systemError ?? EIO) }
    return path + "/" + name
  }

  /// Keeps the folder while a program that this process becomes or starts has it open.
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
  /// The folder may be one that others need, such as `/dev/shm`, so don't advise to close it to
  /// others.
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
