internal import Glibc
internal import KeychainCredentials
internal import SystemPackage

/// A file that appears under its name whole or not at all, and never in the place of another.
///
/// It is written under a temporary name beside it, which is removed if the value goes unpublished.
struct NewFile: ~Copyable {
  let descriptor: FileDescriptor

  private let path: String
  private let temporary: String

  /// Makes an empty file, open to the user alone.
  init(_ path: String) throws(KeychainError) {
    try Self.requireAbsent(path)
    let temporary = "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max)).tmp"
    let descriptor: FileDescriptor
    do throws(Errno) {
      descriptor = try PrivateFile.open(temporary, .writeOnly, flags: O_CREAT | O_EXCL)
    } catch {
      throw .system(error, "make", path)
    }
    self.descriptor = descriptor
    self.path = path
    self.temporary = temporary
  }

  deinit {
    try? descriptor.close()
    unsafe unlink(temporary)
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

  /// Makes what was written durable, and gives it its name.
  ///
  /// When this fails, nothing has the name, unless another process gave it to something.
  consuming func publish() throws(KeychainError) {
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
    if unsafe link(temporary, path) == 0 { return }
    guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else {
      throw errno == EEXIST ? .isThere(path) : .system(.current, "make", path)
    }
    try takeNameWithoutLinks()
  }

  /// Takes the name first, with nothing in it, and then replaces what is ours: file systems without
  /// hard links, as memory sticks have them, offer nothing better.
  private borrowing func takeNameWithoutLinks() throws(KeychainError) {
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
  /// The folder of a file, by which it can be opened.
  fileprivate var folder: String {
    let folder = removingLastComponent().string
    return folder.isEmpty ? "." : folder
  }
}

extension KeychainError {
  fileprivate static func isThere(_ path: String) -> Self {
    Self(.alreadyExists, "\(path) exists already", recovery: "name a new file")
  }
}
