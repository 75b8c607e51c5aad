internal import Glibc
package import SystemPackage

extension PrivateFile {
  /// Every bit of a mode by which others can use a file: for contents that are no secret.
  package static let everybody: CInterop.Mode = 0o077

  /// Creates a file, open to the user alone, that appears whole or not at all, and durably.
  package static func create(
    _ path: String, openTo others: CInterop.Mode = 0,
    _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) {
    let file = try NewFile(path, openTo: others)
    try file.write(body)
    try file.publish()
  }

  /// Creates a file that other processes use as well, as ``create(_:openTo:_:)`` does, unless the
  /// name is taken.
  ///
  /// The file that is there then is durable when this returns. If that fails, the file stays,
  /// because another process may need it by then. Returns whether it was made.
  package static func createIfAbsent(
    _ path: String, openTo others: CInterop.Mode = 0,
    _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) -> Bool {
    do throws(FileError) {
      let file = try NewFile(path, openTo: others)
      try file.write(body)
      try file.publish(isShared: true)
      return true
    } catch {
      switch error.kind {
      case .alreadyExists: try syncEntry(of: path)
      // To call again is safe.
      case .unsynced(let cause): throw .failed(cause, "sync the folder of", path)
      default: throw error
      }
      return false
    }
  }

  /// Creates or replaces a file, open to the user alone, in one step and durably; a link is replaced
  /// itself.
  package static func replace(
    _ path: String, openTo others: CInterop.Mode = 0,
    _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) {
    let file = try FileReplacement(of: path, openTo: others)
    try file.write(body)
    try file.publish()
  }

  /// Renames a finished file, durably, and replaces a file of the new name.
  package static func move(_ temporary: String, to path: String) throws(FileError) {
    let folder = try folderToSync(of: path)
    defer { try? folder?.close() }
    guard unsafe rename(temporary, path) == 0 else { throw .failed(.current, "write", path) }
    try sync(folder, after: path)
  }

  /// Makes a file durable that somebody else has made, with its name.
  ///
  /// A file system that syncs nothing, such as a read-only one, is no failure.
  package static func sync(_ path: String) throws(FileError) {
    do throws(Errno) {
      let descriptor = try open(path, flags: O_NONBLOCK)
      defer { try? descriptor.close() }
      guard fsync(descriptor.rawValue) == 0 || !isFailureOfDisk(errno) else { throw Errno.current }
    } catch { throw .failed(error, "sync", path) }
    try syncEntry(of: path)
  }

  /// Makes the name of a file durable.
  private static func syncEntry(of path: String) throws(FileError) {
    guard let folder = try folderToSync(of: path) else { return }
    defer { try? folder.close() }
    guard fsync(folder.rawValue) == 0 || !isFailureOfDisk(errno) else {
      throw .failed(.current, "sync the folder of", path)
    }
  }

  private static func isFailureOfDisk(_ error: CInt) -> Bool {
    [EIO, ENOSPC, EDQUOT].contains(error)
  }

  /// Syncs the folder of a file that has just got its name.
  static func sync(_ folder: FileDescriptor?, after path: String) throws(FileError) {
    guard let folder, fsync(folder.rawValue) != 0 else { return }
    throw FileError(.unsynced(.current), path)
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

  /// Whether an open file is the one that has a name.
  static func isFile(_ descriptor: FileDescriptor, at path: String) -> Bool {
    guard let open = try? Stat(descriptor), let named = try? look(path) else { return false }
    return open.identity == named.identity
  }

  /// Returns the name of a file that is not finished; each path has one.
  static func temporaryName(for path: String) -> String { path + ".unfinished-file" }
}

extension FilePath {
  /// The folder of a file, as a path that can be opened even if it is a link.
  var folderToOpen: String {
    let folder = removingLastComponent().string
    return folder.isEmpty ? "." : folder + "/."
  }
}

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
  package borrowing func write(_ body: (FileDescriptor) throws(Errno) -> Void) throws(FileError) {
    try file.write(body)
  }

  /// Makes the contents durable, and gives the file its name.
  ///
  /// After ``FileError/Kind/unsynced(_:)`` it has its name and may lose it with the power; after any
  /// other error, the name is free. A file that others use at once (`isShared`) keeps its name.
  package consuming func publish(isShared: Bool = false) throws(FileError) {
    try file.sync()
    try file.takeName(isShared: isShared)
  }
}

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
  package borrowing func write(_ body: (FileDescriptor) throws(Errno) -> Void) throws(FileError) {
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
