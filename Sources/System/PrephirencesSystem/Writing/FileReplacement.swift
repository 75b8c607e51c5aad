package import SystemPackage

/// A file that replaces another in one step: a reader finds either the old file or all of the new
/// one, even after a power loss.
///
/// The old file need not exist. A link with its name is replaced itself.
package struct FileReplacement: ~Copyable {
  private let file: UnfinishedFile

  /// Creates an empty file, open to the user alone.
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
  package consuming func publish() throws(FileError) {
    try file.sync()
    try file.replaceOld()
  }

  /// Makes the contents durable, which may take long.
  package borrowing func sync() throws(FileError) { try file.sync() }

  /// Replaces the old file, after ``sync()``.
  package consuming func publishSynced() throws(FileError) { try file.replaceOld() }
}
