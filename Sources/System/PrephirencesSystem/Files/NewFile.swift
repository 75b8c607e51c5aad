internal import Glibc
package import SystemPackage

extension PrivateFile {
  /// All bits of a mode by which others can use a file, for contents that are not secret.
  package static let everybody: CInterop.Mode = 0o077

  /// Creates a file, open to the user alone, completely and durably or not at all.
  package static func create(
    _ path: String, openTo others: CInterop.Mode = 0,
    _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) {
    let file = try NewFile(path, openTo: others)
    try file.write(body)
    try file.publish()
  }

  /// Creates a shared file as ``create(_:openTo:_:)`` does, unless the name is taken; `false` if it
  /// is.
  ///
  /// Whichever file has the name is durable when this returns. If that fails, the file stays,
  /// because another process may use it by then.
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
      // The call can be repeated.
      case .unsynced(let cause): throw .failed(cause, "sync the folder of", path)
      default: throw error
      }
      return false
    }
  }

  /// Creates or replaces a file, open to the user alone, in one step and durably; a link is
  /// replaced itself.
  package static func replace(
    _ path: String, openTo others: CInterop.Mode = 0,
    _ body: (FileDescriptor) throws(Errno) -> Void
  ) throws(FileError) {
    let file = try UnfinishedFile(for: path, openTo: others)
    try file.write(body)
    try file.sync()
    try file.replaceOld()
  }

  /// Renames a finished file durably, and replaces a file of the new name.
  package static func move(_ temporary: String, to path: String) throws(FileError) {
    let folder = try folderToSync(of: path)
    defer { try? folder?.close() }
    guard unsafe rename(temporary, path) == 0 else { throw .failed(.current, "write", path) }
    try sync(folder, after: path)
  }

  /// Makes a file of another writer durable, with its name; a file system that cannot sync is no
  /// error.
  package static func sync(_ path: String) throws(FileError) {
    do throws(Errno) {
      let descriptor = try open(path, flags: O_NONBLOCK)
      defer { try? descriptor.close() }
      guard fsync(descriptor.rawValue) == 0 || !isFailureOfDisk(errno) else { throw Errno.current }
    } catch { throw .failed(error, "sync", path) }
    try syncEntry(of: path)
  }

  private static func syncEntry(of path: String) throws(FileError) {
    guard let folder = try folderToSync(of: path) else { return }
    defer { try? folder.close() }
    try onFile(path, "sync the folder of", syncFolder(folder))
  }

  private static func isFailureOfDisk(_ error: CInt) -> Bool {
    [EIO, ENOSPC, EDQUOT].contains(error)
  }

  /// Syncs the folder of a file that was just named.
  static func sync(_ folder: FileDescriptor?, after path: String) throws(FileError) {
    guard let folder else { return }
    do throws(Errno) {
      try syncFolder(folder)
    } catch { throw FileError(.unsynced(error), path) }
  }

  /// Opens the folder of a file; `nil` if the user may create files in it but not read it, because
  /// it then belongs to somebody else.
  static func folderToSync(of path: String) throws(FileError) -> FileDescriptor? {
    let folder = FilePath(path).folderToOpen
    do throws(Errno) {
      return try open(folder, flags: O_DIRECTORY)
    } catch {
      guard error != .permissionDenied else { return nil }
      throw .failed(error, "open the folder", folder)
    }
  }

  /// Whether an open file is the one at a path.
  static func isFile(_ descriptor: FileDescriptor, at path: String) -> Bool {
    guard let open = try? Stat(descriptor), let named = try? look(path) else { return false }
    return open.identity == named.identity
  }

  /// Returns the name of the unfinished file for a path.
  static func temporaryName(for path: String) -> String { path + ".unfinished-file" }
}

extension FilePath {
  /// The folder of a file, as a path that can be opened even if it is a link.
  var folderToOpen: String {
    let folder = removingLastComponent().string
    return folder.isEmpty ? "." : folder + "/."
  }
}

/// A file that appears under its name completely or not at all, and replaces no other.
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

  package borrowing func write(_ body: (FileDescriptor) throws(Errno) -> Void) throws(FileError) {
    try file.write(body)
  }

  /// Makes the contents durable, and gives the file its name.
  ///
  /// After ``FileError/Kind/unsynced(_:)`` the file has its name, but a power failure may undo
  /// that; after any other error, the name is free. A file that others use at once (`isShared`)
  /// keeps its name.
  package consuming func publish(isShared: Bool = false) throws(FileError) {
    try file.sync()
    try file.takeName(isShared: isShared)
  }
}

/// A file that is written before it gets its name.
///
/// Until then it has no name, so nothing is left however the process ends. To replace another file,
/// it has a temporary name for a moment, and for longer if the file system has no files without a
/// name. Each path has one temporary name, and its writer holds a lock on that file: the next file
/// for the path removes what a killed process left.
package struct UnfinishedFile: ~Copyable {
  let descriptor: FileDescriptor
  private let path: String
  private let temporary: String

  /// `nil` as for ``PrivateFile/folderToSync(of:)``.
  private let folder: FileDescriptor?

  /// Whether the file has its temporary name.
  private var isNamed: Bool

  /// Creates an empty file, open to the user alone.
  package init(for path: String, openTo others: CInterop.Mode) throws(FileError) {
    let temporary = PrivateFile.temporaryName(for: path)
    // First, so that nothing has changed if this fails.
    let folder = try PrivateFile.folderToSync(of: path)
    do throws(FileError) {
      // The leftover may hold a secret.
      try? Self.removeLeftover(temporary, Deadline(after: .zero))
      let nameless = Self.nameless(in: FilePath(path).folderToOpen)
      let descriptor = if let nameless { nameless } else { try Self.named(temporary, for: path) }
      do throws(FileError) {
        try Self.requireClosed(descriptor, path, to: 0o077 & ~others)
      } catch {
        if nameless == nil { unsafe unlink(temporary) }
        try? descriptor.close()
        throw error
      }
      self.descriptor = descriptor
      isNamed = nameless == nil
    } catch {
      try? folder?.close()
      throw error
    }
    self.path = path
    self.temporary = temporary
    self.folder = folder
  }

  deinit {
    if isNamed { unsafe unlink(temporary) }
    // A child that was forked meanwhile has the descriptor, too, and would keep the lock.
    flock(descriptor.rawValue, LOCK_UN)
    try? descriptor.close()
    try? folder?.close()
  }

  package borrowing func write(_ body: (FileDescriptor) throws(Errno) -> Void) throws(FileError) {
    try onFile(path, "write", body(descriptor))
  }

  /// Makes the contents durable, which may take long.
  package borrowing func sync() throws(FileError) {
    guard fsync(descriptor.rawValue) == 0 else { throw .failed(.current, "write", path) }
  }

  /// Gives the synced file its name, and replaces a file or link that has it.
  ///
  /// A reader finds the complete old or new file, even after a power loss. After
  /// ``FileError/Kind/unsynced(_:)`` the file has its name; after any other error, the old file is
  /// unchanged.
  package consuming func replaceOld() throws(FileError) {
    if !isNamed { try takeTemporaryName() }
    isNamed = true
    guard unsafe rename(temporary, path) == 0 else { throw .failed(.current, "write", path) }
    isNamed = false
    try PrivateFile.sync(folder, after: path)
  }

  /// Gives the synced file its name, unless that is taken.
  ///
  /// A file that others use at once (`isShared`) keeps the name even if the folder cannot be
  /// synced.
  consuming func takeName(isShared: Bool) throws(FileError) {
    try takeName()
    do throws(FileError) {
      try PrivateFile.sync(folder, after: path)
    } catch {
      guard !isShared, unsafe unlink(path) == 0, let cause = error.systemError else { throw error }
      throw .failed(cause, "write", path)
    }
  }

  private mutating func takeName() throws(FileError) {
    let source = isNamed ? temporary : Self.link(to: descriptor)
    if unsafe linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 { return }
    guard isNamed, [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else {
      throw errno == EEXIST ? FileError(.alreadyExists, path) : .failed(.current, "make", path)
    }
    // First takes the name with an empty file, and then replaces that. File systems without hard
    // links, as on memory sticks, offer nothing better.
    do throws(Errno) {
      let empty = try PrivateFile.open(path, .writeOnly, flags: O_CREAT | O_EXCL)
      try? empty.close()
    } catch {
      throw error == .fileExists ? FileError(.alreadyExists, path) : .failed(error, "make", path)
    }
    guard unsafe rename(temporary, path) == 0 else {
      let error = Errno.current
      unsafe unlink(path)
      throw .failed(error, "make", path)
    }
    isNamed = false
  }

  // MARK: - Without a name

  /// Opens a file without a name that can be linked later; `nil` if that is not supported.
  private static func nameless(in folder: String) -> FileDescriptor? {
    guard
      let descriptor = try? PrivateFile.open(folder, .writeOnly, flags: PrivateFile.Flags.nameless)
    else { return nil }
    guard unsafe access(link(to: descriptor), F_OK) == 0 else {
      try? descriptor.close()
      return nil
    }
    return descriptor
  }

  /// Returns the path of an open descriptor in /proc, if that is mounted.
  private static func link(to descriptor: FileDescriptor) -> String {
    "/proc/self/fd/\(descriptor.rawValue)"
  }

  // MARK: - The temporary name

  /// How long to wait for another process that writes the same file.
  private static let timeout = Duration.seconds(10)

  private borrowing func takeTemporaryName() throws(FileError) {
    // Nobody else knows the file yet. Without locks, leftovers are found but not removed.
    _ = try? FileLock.tryLock(descriptor, .exclusive)
    let deadline = Deadline(after: Self.timeout)
    while unsafe linkat(
      AT_FDCWD, Self.link(to: descriptor), AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) != 0
    {
      guard errno == EEXIST else { throw .failed(.current, "write", path) }
      try Self.removeLeftover(temporary, deadline)
    }
  }

  private static func named(
    _ temporary: String, for path: String
  ) throws(FileError) -> FileDescriptor {
    let deadline = Deadline(after: timeout)
    while true {
      do throws(Errno) {
        let descriptor = try PrivateFile.open(temporary, .writeOnly, flags: O_CREAT | O_EXCL)
        // Another process may have removed the empty file as a leftover.
        if (try? FileLock.tryLock(descriptor, .exclusive)) != false,
          PrivateFile.isFile(descriptor, at: temporary)
        {
          return descriptor
        }
        try? descriptor.close()
      } catch {
        guard error == .fileExists else { throw .failed(error, "write", path) }
        try removeLeftover(temporary, deadline)
      }
    }
  }

  /// Removes what a killed process left under a temporary name; waits for a living writer.
  private static func removeLeftover(_ temporary: String, _ deadline: Deadline) throws(FileError) {
    let descriptor: FileDescriptor
    do throws(Errno) {
      descriptor = try PrivateFile.open(temporary, .writeOnly, flags: O_NONBLOCK)
    } catch {
      guard error != .noSuchFileOrDirectory else { return }
      throw .failed(error, "replace", temporary)
    }
    let lock = try FileLock(exclusive: descriptor, temporary, deadline: deadline)
    guard let stat = try? Stat(lock.descriptor), stat.type == .regular,
      stat.userID.rawValue == geteuid()
    else { throw FileError(.alreadyExists, temporary) }
    // While this holds the lock, nobody else removes the file, so the name still is this file's.
    guard PrivateFile.isFile(lock.descriptor, at: temporary) else { return }
    guard unsafe unlink(temporary) == 0 else { throw .failed(.current, "remove", temporary) }
  }

  // MARK: - Modes

  /// Fails if the file system opens a file to others that was made for the user alone.
  private static func requireClosed(
    _ descriptor: FileDescriptor, _ path: String, to others: CInterop.Mode
  ) throws(FileError) {
    let stat = try onFile(path, "write", Stat(descriptor))
    guard stat.isOpen(path, to: others) else { return }
    throw FileError(.insecure(.mediumWithoutModes(stat.permissions.rawValue)), path)
  }
}

extension PrivateFile {
  /// Whether others can use a file in a way that one of these bits permits.
  package static func isOpen(_ path: String, to others: CInterop.Mode) throws(FileError) -> Bool {
    try look(path)?.isOpen(path, to: others) ?? false
  }
}

extension Stat {
  /// Whether the mode has one of these bits at a path that is not trusted.
  fileprivate func isOpen(_ path: String, to others: CInterop.Mode) -> Bool {
    guard permissions.rawValue & others != 0 else { return false }
    let real = (try? TrustedPath.withoutTrust(path)) ?? path
    return TrustedFolders.current.othersBits(self, real) & others != 0
  }
}
