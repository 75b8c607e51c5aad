package import SystemPackage

/// A file that replaces another in one step: a reader finds either the old file or all of the new
/// one, even after a power loss.
///
/// The old file need not exist. A link with its name is replaced itself.
package struct FileReplacement: ~Copyable {
  private let file: UnfinishedFile

  /// Creates an empty file, open to the user alone.
  ///
  /// - Parameters:
  ///   - path: The path of the old file.
  ///   - others: The bits of its mode by which a file system without modes may open it to others.
  /// - Throws: ``FileError`` with ``FileError/Kind/insecure(_:)`` if others could use the file, or
  ///   ``FileError/Kind/failed(action:_:)``.
  package init(of path: String, openTo others: CInterop.Mode = 0) throws(FileError) {
    file = try UnfinishedFile(for: path, openTo: others)
  }

  /// Runs `body`, which writes the contents.
  package borrowing func write(
    _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) {
    try file.write(body)
  }

  /// Makes the contents durable, and replaces the old file.
  ///
  /// - Throws: As ``publishSynced()``.
  package consuming func publish() throws(FileError) {
    try file.sync()
    try file.replaceOld()
  }

  /// Makes the contents durable, which may take long.
  package borrowing func sync() throws(FileError) { try file.sync() }

  /// Replaces the old file, after ``sync()``.
  ///
  /// - Throws: ``FileError`` with ``FileError/Kind/unsynced(_:)`` if the new file is there and may
  ///   be lost with the power. After any other error, the old file is unchanged.
  package consuming func publishSynced() throws(FileError) { try file.replaceOld() }
}
