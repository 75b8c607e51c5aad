internal import Glibc
package import SystemPackage

/// A file that appears under its name whole or not at all, and never replaces another.
///
/// Until it is published it has no name, so nothing is left of it however the process ends. If the
/// file system does not support such files, it has a temporary name next to its own.
package struct NewFile: ~Copyable {
  package let descriptor: FileDescriptor

  private let path: String

  /// The temporary name, if there is one.
  private let temporary: String?

  /// Creates an empty file, open to the user alone.
  ///
  /// - Throws: ``FileError`` with ``FileError/Kind/alreadyExists`` if the name is taken, even by a
  ///   broken link, or ``FileError/Kind/failed(action:_:)``.
  package init(_ path: String) throws(FileError) {
    try Self.requireAbsent(path)
    let nameless = Self.nameless(in: FilePath(path).folderToOpen)
    let temporary = nameless == nil ? PrivateFile.temporaryName(for: path) : nil
    do throws(Errno) {
      descriptor =
        if let nameless { nameless } else {
          try PrivateFile.open(temporary ?? path, .writeOnly, flags: O_CREAT | O_EXCL)
        }
    } catch {
      throw .failed(error, "make", path)
    }
    self.path = path
    self.temporary = temporary
  }

  deinit {
    try? descriptor.close()
    if let temporary { unsafe unlink(temporary) }
  }

  /// Opens a file without a name that can be linked later, or returns `nil` if that is not
  /// supported.
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

  /// Returns the path of an open descriptor in /proc, if that is mounted.
  private static func link(to descriptor: FileDescriptor) -> String {
    "/proc/self/fd/\(descriptor.rawValue)"
  }

  /// Fails if the name is taken.
  package static func requireAbsent(_ path: String) throws(FileError) {
    do throws(Errno) {
      _ = try unsafe Stat(path, followTargetSymlink: false)
    } catch {
      guard error != .noSuchFileOrDirectory else { return }
      throw .failed(error, "look at", path)
    }
    throw FileError(.alreadyExists, path)
  }

  /// Runs `body`, which writes the contents.
  package borrowing func write(
    _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) {
    do throws(Errno) { try body(descriptor) } catch { throw .failed(error, "write", path) }
  }

  /// Makes the contents durable, and gives the file its name.
  ///
  /// If this fails, the name is free, unless another process took it.
  package consuming func publish() throws(FileError) {
    guard fsync(descriptor.rawValue) == 0 else { throw .failed(.current, "write", path) }
    try takeName()
    do throws(FileError) {
      try PrivateFile.syncFolder(FilePath(path).folderToOpen)
    } catch {
      unsafe unlink(path)
      throw error
    }
  }

  private borrowing func takeName() throws(FileError) {
    let source = temporary ?? Self.link(to: descriptor)
    if unsafe linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 { return }
    guard let temporary, [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else {
      throw errno == EEXIST ? FileError(.alreadyExists, path) : .failed(.current, "make", path)
    }
    try takeName(of: temporary)
  }

  /// Takes the name with an empty file first, and then replaces that.
  ///
  /// File systems without hard links, as on memory sticks, offer nothing better.
  private borrowing func takeName(of temporary: String) throws(FileError) {
    do throws(Errno) {
      let descriptor = try PrivateFile.open(path, .writeOnly, flags: O_CREAT | O_EXCL)
      try? descriptor.close()
    } catch {
      throw error == .fileExists ? FileError(.alreadyExists, path) : .failed(error, "make", path)
    }
    guard unsafe rename(temporary, path) == 0 else {
      let error = Errno.current
      unsafe unlink(path)
      throw .failed(error, "make", path)
    }
  }
}
