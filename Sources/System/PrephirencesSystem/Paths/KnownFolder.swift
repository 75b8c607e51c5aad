internal import Glibc
package import SystemPackage

/// A private folder whose path was checked once, and that is recognised later without looking at
/// every folder above it again.
///
/// A file is opened in the folder that was checked, by its descriptor. Whoever can exchange a folder
/// above therefore cannot lead a writer elsewhere: another folder at the path is not recognised, and
/// its path is checked like that of a new one.
package final class KnownFolder: Sendable {
  /// What must be the same for the folder to be recognised.
  private struct Known: Equatable {
    let identity: FileIdentity
    let owner: UserID
    let permissions: FilePermissions

    init(_ stat: Stat) {
      identity = stat.identity
      owner = stat.userID
      permissions = stat.permissions
    }
  }

  private let path: String
  private let known = PosixMutex<Known?>(nil)

  /// Names a folder; nothing is read.
  package init(_ path: String) { self.path = path }

  /// Opens a file of the folder, which is created first if it does not exist.
  ///
  /// - Returns: The file, or `nil` if there is none.
  /// - Throws: ``FileError`` as ``PrivateFile/makeFolder(_:)``, or with
  ///   ``FileError/Kind/failed(action:_:)`` if the file cannot be opened.
  package func open(
    _ name: String, _ mode: FileDescriptor.AccessMode
  ) throws(FileError) -> FileDescriptor? {
    let folder = try descriptor(for: name)
    defer { try? folder.close() }
    let flags = mode.rawValue | O_CLOEXEC | O_NOFOLLOW
    let file = unsafe openat(folder.rawValue, name, flags)
    guard file < 0 else { return FileDescriptor(rawValue: file) }
    let error = Errno.current
    guard error == .noSuchFileOrDirectory else { throw .failed(error, "open", path + "/" + name) }
    return nil
  }

  /// Opens the folder, after its path was checked unless it is the one that was checked before.
  private func descriptor(for name: String) throws(FileError) -> FileDescriptor {
    if let known = known.withLock({ $0 }), let found = try? open() {
      if known == found.known { return found.descriptor }
      try? found.descriptor.close()
    }
    try PrivateFile.makeFolder(path)
    // The path of a file, since only what is above the end of a path is checked.
    _ = try TrustedPath(resolving: path + "/" + name)
    do throws(Errno) {
      let found = try open()
      known.withLock { $0 = found.known }
      return found.descriptor
    } catch {
      throw .failed(error, "open the folder", path)
    }
  }

  private func open() throws(Errno) -> (descriptor: FileDescriptor, known: Known) {
    let number = unsafe Glibc.open(path, PrivateFile.Flags.pathOnly | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw Errno.current }
    let descriptor = FileDescriptor(rawValue: number)
    do throws(Errno) {
      return (descriptor, Known(try Stat(descriptor)))
    } catch {
      try? descriptor.close()
      throw error
    }
  }
}
