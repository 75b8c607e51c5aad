internal import Glibc
package import SystemPackage

/// A file that takes the place of another in one step: whoever looks, also after a power loss, finds the
/// old one, or all of the new one.
///
/// Nothing need have the name before. A link that has it is itself replaced.
package struct FileReplacement: ~Copyable {
  private let path: String
  private let temporary: String
  private let descriptor: FileDescriptor
  private let folder: FileDescriptor?

  /// Makes an empty file with a temporary name, open to the user alone.
  ///
  /// - Throws: ``FileError`` with ``FileError/Kind/failed(action:_:)``.
  package init(of path: String) throws(FileError) {
    let temporary = PrivateFile.temporaryName(for: path)
    // First: if the folder cannot be opened, nothing has changed yet.
    let folder = try PrivateFile.folderToSync(of: path)
    do throws(Errno) {
      descriptor = try PrivateFile.open(temporary, .writeOnly, flags: O_CREAT | O_EXCL)
    } catch {
      try? folder?.close()
      throw .failed(error, "write", path)
    }
    self.path = path
    self.temporary = temporary
    self.folder = folder
  }

  deinit {
    try? descriptor.close()
    try? folder?.close()
    unsafe unlink(temporary)
  }

  /// Writes what `body` does.
  package borrowing func write(
    _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) {
    do throws(Errno) { try body(descriptor) } catch { throw .failed(error, "write", path) }
  }

  /// Makes what was written durable, and lets it take the place.
  ///
  /// When this fails, the old file is as it was, unless the folder could not be synced.
  package consuming func publish() throws(FileError) {
    guard fsync(descriptor.rawValue) == 0 else { throw .failed(.current, "write", path) }
    try PrivateFile.move(temporary, to: path, syncing: folder)
  }
}
