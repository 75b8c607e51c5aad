package import SystemPackage

/// A file that appears under its name whole or not at all, and never replaces another.
package struct NewFile: ~Copyable {
  private let file: UnfinishedFile

  package var descriptor: FileDescriptor { file.descriptor }

  /// Creates an empty file, open to the user alone.
  package init(_ path: String, openTo others: CInterop.Mode = 0) throws(FileError) {
    try Self.requireAbsent(path)
    file = try UnfinishedFile(for: path, openTo: others)
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
    try file.write(body)
  }

  /// Makes the contents durable, and gives the file its name.
  package consuming func publish(isShared: Bool = false) throws(FileError) {
    try file.sync()
    try file.takeName(isShared: isShared)
  }
}
