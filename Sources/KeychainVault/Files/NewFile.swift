internal import Glibc
package import KeychainCredentials
package import KeychainSecrets
internal import SystemPackage

/// A file that appears under its name whole or not at all, and never in the place of another.
///
/// Until it is published it has no name, so that nothing is left of it however the process ends. Where
/// the file system knows no such files, it has a temporary name beside its own.
package struct NewFile: ~Copyable {
  let descriptor: FileDescriptor

  private let path: String

  /// The temporary name, if there is one.
  private let temporary: String?

  /// Makes an empty file, open to the user alone.
  package init(_ path: String) throws(KeychainError) {
    try Self.requireAbsent(path)
    let nameless = Self.nameless(in: FilePath(path).folder)
    let temporary =
      nameless == nil ? "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max)).tmp" : nil
    do throws(Errno) {
      descriptor =
        if let nameless { nameless } else {
          try PrivateFile.open(temporary ?? path, .writeOnly, flags: O_CREAT | O_EXCL)
        }
    } catch {
      throw .system(error, "make", path)
    }
    self.path = path
    self.temporary = temporary
  }

  deinit {
    try? descriptor.close()
    if let temporary { unsafe unlink(temporary) }
  }

  /// A file without a name that can be given one, or `nil` where that is not to be had.
  private static func nameless(in folder: String) -> FileDescriptor? {
    guard
      let descriptor = try? PrivateFile.open(
        folder, .writeOnly, flags: PrivateFile.Flags.nameless)
    else { return nil }
    guard unsafe access(link(to: descriptor), F_OK) == 0 else {
      try? descriptor.close()
      return nil
    }
    return descriptor
  }

  /// By what the kernel shows an open file, if /proc is mounted.
  private static func link(to descriptor: FileDescriptor) -> String {
    "/proc/self/fd/\(descriptor.rawValue)"
  }

  /// Fails if something has the name already.
  static func requireAbsent(_ path: String) throws(KeychainError) {
    do throws(Errno) {
      _ = try unsafe Stat(path, followTargetSymlink: false)
    } catch {
      guard error != .noSuchFileOrDirectory else { return }
      throw .system(error, "look at", path)
    }
    throw .isThere(path)
  }

  /// Writes a secret.
  package borrowing func write(_ contents: borrowing SecretBytes) throws(KeychainError) {
    do throws(SecretsError) {
      try contents.write(toFileDescriptor: descriptor.rawValue)
    } catch {
      throw .system(Errno(rawValue: error.systemError), "write", path)
    }
  }

  /// Makes what was written durable, and gives it its name.
  ///
  /// When this fails, nothing has the name, unless another process gave it to something.
  package consuming func publish() throws(KeychainError) {
    guard fsync(descriptor.rawValue) == 0 else { throw .system(.current, "write", path) }
    try takeName()
    do throws(KeychainError) {
      try PrivateFile.syncFolder(FilePath(path).folder)
    } catch {
      unsafe unlink(path)
      throw error
    }
  }

  private borrowing func takeName() throws(KeychainError) {
    let source = temporary ?? Self.link(to: descriptor)
    if unsafe linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 { return }
    guard let temporary, [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else {
      throw errno == EEXIST ? .isThere(path) : .system(.current, "make", path)
    }
    try takeName(of: temporary)
  }

  /// Takes the name first, with nothing in it, and then replaces what is ours: file systems without
  /// hard links, as memory sticks have them, offer nothing better.
  private borrowing func takeName(of temporary: String) throws(KeychainError) {
    do throws(Errno) {
      let descriptor = try PrivateFile.open(path, .writeOnly, flags: O_CREAT | O_EXCL)
      try? descriptor.close()
    } catch {
      throw error == .fileExists ? .isThere(path) : .system(error, "make", path)
    }
    guard unsafe rename(temporary, path) == 0 else {
      let error = Errno.current
      unsafe unlink(path)
      throw .system(error, "make", path)
    }
  }
}

extension FilePath {
  /// The folder of a file, by which it can be opened, be it named by a link or not.
  fileprivate var folder: String {
    let folder = removingLastComponent().string
    return folder.isEmpty ? "." : folder + "/."
  }
}

extension KeychainError {
  /// Something has the name of a file that is to be new.
  static func isThere(_ path: String) -> Self {
    Self(.alreadyExists, "\(path) exists already", recovery: "name a new file")
  }
}
