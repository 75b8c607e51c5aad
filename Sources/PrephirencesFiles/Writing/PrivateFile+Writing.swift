internal import Glibc
package import SystemPackage

extension PrivateFile {
  /// Makes a file, open to the user alone, that appears whole or not at all, and durably.
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

  /// Makes a file as ``create(_:_:)`` does, unless something has the name.
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

  /// Makes a file, open to the user alone, in the place of another one or of none, in one step and durably.
  ///
  /// - Parameters:
  ///   - path: Its path; a link is itself replaced.
  ///   - body: Writes the contents.
  /// - Throws: ``FileError`` with ``FileError/Kind/failed(action:_:)``; the old file is then as it was, unless
  ///   the folder could not be synced.
  package static func replace(
    _ path: String, _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) {
    let file = try FileReplacement(of: path)
    try file.write(body)
    try file.publish()
  }

  /// Gives a finished file another name, durably, replacing what has that name.
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

  /// Opens the folder of a file; `nil` for one in which the user may make files, and not read: it is
  /// somebody else's to sync.
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
  /// The folder of a file, by which it can be opened, be it named by a link or not.
  var folderToOpen: String {
    let folder = removingLastComponent().string
    return folder.isEmpty ? "." : folder + "/."
  }
}
