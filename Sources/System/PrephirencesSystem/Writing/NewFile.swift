package import SystemPackage

/// A file that appears under its name whole or not at all, and never replaces another.
package struct NewFile: ~Copyable {
  private let file: UnfinishedFile

  package var descriptor: FileDescriptor { file.descriptor }

  /// Creates an empty file, open to the user alone.
  ///
  /// - Parameters:
  ///   - path: Its path.
  ///   - others: The bits of its mode by which a file system without modes may open it to others.
  /// - Throws: ``FileError`` with ``FileError/Kind/alreadyExists`` if the name is taken, even by a
  ///   broken link, ``FileError/Kind/insecure(_:)`` if others could use the file, or
  ///   ``FileError/Kind/failed(action:_:)``.
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
  ///
  /// - Parameter isShared: Whether other processes use the file as soon as it has its name. It then
  ///   keeps the name even if the folder cannot be synced.
  /// - Throws: ``FileError`` with ``FileError/Kind/unsynced(_:)`` if the file has its name and may
  ///   lose it with the power. After any other error, the name is free, unless another process took
  ///   it.
  package consuming func publish(isShared: Bool = false) throws(FileError) {
    try file.sync()
    try file.takeName(isShared: isShared)
  }
}
