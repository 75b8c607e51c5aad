internal import Glibc
package import SystemPackage

/// A file that replaces another in one step: a reader finds either the old file or all of the new
/// one, even after a power loss.
///
/// The old file need not exist. A link with its name is replaced itself.
package struct FileReplacement: ~Copyable {
  private let path: String
  private let temporary: String
  private let descriptor: FileDescriptor
  private let folder: FileDescriptor?

  /// Creates an empty file with a temporary name, open to the user alone.
  ///
  /// - Throws: ``FileError`` with ``FileError/Kind/failed(action:_:)``.
  package init(of path: String) throws(FileError) {
    let temporary = PrivateFile.temporaryName(for: path)
    // First, so that nothing has changed if the folder cannot be opened.
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

  /// Runs `body`, which writes the contents.
  package borrowing func write(
    _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) {
    do throws(Errno) { try body(descriptor) } catch { throw .failed(error, "write", path) }
  }

  /// Makes the contents durable, and replaces the old file.
  ///
  /// If this fails, the old file is unchanged, unless the folder could not be synced.
  package consuming func publish() throws(FileError) {
    try sync()
    try publishSynced()
  }

  /// Makes the contents durable, which may take long.
  package borrowing func sync() throws(FileError) {
    guard fsync(descriptor.rawValue) == 0 else { throw .failed(.current, "write", path) }
  }

  /// Replaces the old file, after ``sync()``.
  package consuming func publishSynced() throws(FileError) {
    try PrivateFile.move(temporary, to: path, syncing: folder)
  }
}
