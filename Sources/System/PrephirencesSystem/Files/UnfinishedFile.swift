internal import Glibc
internal import SystemPackage

/// A file that is written before it gets its name.
///
/// Until then it has no name, so nothing is left of it however the process ends. To replace another
/// file, it has a temporary name for a moment, and for longer if the file system has no files
/// without a name. Each path has one temporary name, on whose file the writer holds a lock: what a
/// killed process left there is removed by the next file for this path.
struct UnfinishedFile: ~Copyable {
  let descriptor: FileDescriptor
  private let path: String
  private let temporary: String

  /// `nil` if the user may create files in it but not read it: then it is not ours to sync.
  private let folder: FileDescriptor?

  /// Whether the file has its temporary name.
  private var isNamed: Bool

  /// Creates an empty file, open to the user alone.
  init(for path: String, openTo others: CInterop.Mode) throws(FileError) {
    let temporary = PrivateFile.temporaryName(for: path)
    // First, so that nothing has changed if the folder cannot be opened.
    let folder = try PrivateFile.folderToSync(of: path)
    do throws(FileError) {
      // It may hold a secret.
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
    // A child that was forked meanwhile has the descriptor too, and would keep the lock.
    flock(descriptor.rawValue, LOCK_UN)
    try? descriptor.close()
    try? folder?.close()
  }

  /// Runs `body`, which writes the contents.
  borrowing func write(_ body: (FileDescriptor) throws(Errno) -> Void) throws(FileError) {
    try onFile(path, "write", body(descriptor))
  }

  /// Makes the contents durable, which may take long.
  borrowing func sync() throws(FileError) {
    guard fsync(descriptor.rawValue) == 0 else { throw .failed(.current, "write", path) }
  }

  /// Gives the synced file its name, and replaces a file that has it.
  ///
  /// After ``FileError/Kind/unsynced(_:)`` it has its name; after any other error, the old file is
  /// unchanged.
  consuming func replaceOld() throws(FileError) {
    if !isNamed { try takeTemporaryName() }
    isNamed = true
    guard unsafe rename(temporary, path) == 0 else { throw .failed(.current, "write", path) }
    isNamed = false
    try PrivateFile.sync(folder, after: path)
  }

  /// Gives the synced file its name, unless that is taken.
  ///
  /// A file that others use as soon as it has its name (`isShared`) keeps it even if the folder cannot
  /// be synced.
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
    // Takes the name with an empty file first, and then replaces that. File systems without hard
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

  /// Opens a file without a name that can be linked later, or returns `nil` if that is not
  /// supported.
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
    // Nobody else knows the file yet. Without locks, a leftover is found, but not removed.
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
        // Another process may have taken the empty file for a leftover.
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

  /// Removes what a killed process left under a temporary name; waits if its writer is alive.
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
    // While the lock is held, nobody else removes the file, so its name is not another one's.
    guard PrivateFile.isFile(lock.descriptor, at: temporary) else { return }
    guard unsafe unlink(temporary) == 0 else { throw .failed(.current, "remove", temporary) }
  }

  // MARK: - Modes

  /// Fails if the file system opens the file to others, although it was made for the user alone.
  private static func requireClosed(
    _ descriptor: FileDescriptor, _ path: String, to others: CInterop.Mode
  ) throws(FileError) {
    let stat = try onFile(path, "write", Stat(descriptor))
    guard stat.permissions.rawValue & others != 0 else { return }
    let real = (try? TrustedPath.withoutTrust(path)) ?? path
    guard TrustedFolders.current.othersBits(stat, real) & others != 0 else { return }
    throw FileError(.insecure(.mediumWithoutModes(stat.permissions.rawValue)), path)
  }
}
