internal import Glibc
package import SystemPackage

extension PrivateFile {
  /// Creates a file, open to the user alone, that appears whole or not at all, and durably.
  ///
  /// - Parameters:
  ///   - path: Its path; nothing is replaced.
  ///   - body: Writes the contents.
  /// - Throws: ``FileError`` with ``FileError/Kind/alreadyExists``, or ``FileError/Kind/failed(action:_:)``.
  package static func create(
    _ path: String, _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) {
    let file = try NewFile(path)
    try file.write(body)
    try file.publish()
  }

  /// Creates a file as ``create(_:_:)`` does, unless the name is taken.
  ///
  /// - Returns: Whether it was made.
  package static func createIfAbsent(
    _ path: String, _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) -> Bool {
    do throws(FileError) {
      try create(path, body)
      return true
    } catch {
      guard error.kind == .alreadyExists else { throw error }
      return false
    }
  }

  /// Creates or replaces a file, open to the user alone, in one step and durably.
  ///
  /// - Parameters:
  ///   - path: Its path. A link there is replaced itself.
  ///   - body: Writes the contents.
  /// - Throws: ``FileError`` with ``FileError/Kind/failed(action:_:)``. The old file is then
  ///   unchanged, unless the folder could not be synced.
  package static func replace(
    _ path: String, _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) {
    let file = try FileReplacement(of: path)
    try file.write(body)
    try file.publish()
  }

  /// Renames a finished file, durably, and replaces a file of the new name.
  package static func move(_ temporary: String, to path: String) throws(FileError) {
    let folder = try folderToSync(of: path)
    defer { try? folder?.close() }
    try move(temporary, to: path, syncing: folder)
  }

  static func move(
    _ temporary: String, to path: String, syncing folder: FileDescriptor?
  ) throws(FileError) {
    guard unsafe rename(temporary, path) == 0 else { throw .failed(.current, "write", path) }
    guard let folder else { return }
    guard fsync(folder.rawValue) == 0 else {
      throw .failed(.current, "sync the folder", FilePath(path).folderToOpen)
    }
  }

  /// Opens the folder of a file; `nil` if the user may create files in it but not read it: then it
  /// is not ours to sync.
  static func folderToSync(of path: String) throws(FileError) -> FileDescriptor? {
    let folder = FilePath(path).folderToOpen
    do throws(Errno) {
      return try open(folder, flags: O_DIRECTORY)
    } catch {
      guard error != .permissionDenied else { return nil }
      throw .failed(error, "open the folder", folder)
    }
  }

  static func temporaryName(for path: String) -> String {
    "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max)).tmp"
  }
}

extension FilePath {
  /// The folder of a file, as a path that can be opened even if it is a link.
  var folderToOpen: String {
    let folder = removingLastComponent().string
    return folder.isEmpty ? "." : folder + "/."
  }
}
