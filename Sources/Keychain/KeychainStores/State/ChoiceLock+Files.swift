internal import Glibc
internal import KeychainCredentials
internal import PrephirencesSystem
internal import SystemPackage

// The two files of the lock.
extension ChoiceLock {
  /// Opens the file for a shared lock; this also works in a read-only folder.
  ///
  /// Returns the open file, or `nil` if it is missing and cannot be created.
  func openForSharing(
    _ path: String, in folder: String
  ) throws(KeychainError) -> FileDescriptor? {
    if let descriptor = try translated(PrivateFile.openToLock(path)) { return descriptor }
    do throws(FileError) {
      try PrivateFile.makeFolder(folder)
    } catch {
      // ENOENT: folders that the system creates itself, such as automatic mounts.
      guard error.isSystemError(Self.unwritable + [.noSuchFileOrDirectory]) else {
        throw KeychainError(error)
      }
      return nil
    }
    do throws(FileError) {
      return try PrivateFile.openToLock(path, flags: O_CREAT)
    } catch {
      guard error.isSystemError(Self.unwritable) else { throw KeychainError(error) }
      return nil
    }
  }

  /// The errors of a folder in which no program of the user can create files.
  private static let unwritable: [Errno] = [
    .readOnlyFileSystem, .permissionDenied, .notPermitted,
  ]

  /// Shares the lock, unless a migration holds or awaits it.
  static func tryShare(
    _ descriptor: FileDescriptor, _ path: String, turnstile: String
  ) throws(KeychainError) -> Bool {
    guard try isOpen(turnstile) else { return false }
    return try tryLock(descriptor, .shared, path)
  }

  /// Returns whether the turnstile is free.
  private static func isOpen(_ path: String) throws(KeychainError) -> Bool {
    // The first migration creates it.
    guard let descriptor = try translated(PrivateFile.openToLock(path)) else { return true }
    let turnstile = FileLock(descriptor)
    return try tryLock(turnstile.descriptor, .shared, path)
  }

  /// Locks one of the files exclusively, and creates it if needed.
  static func lockAlone(_ path: String, _ deadline: Deadline) throws(KeychainError) -> FileLock {
    guard
      let descriptor = try translated(PrivateFile.openToLock(path, .readWrite, flags: O_CREAT))
    else {
      throw .system(.noSuchFileOrDirectory, "open", path)
    }
    let lock = FileLock(descriptor)
    while try !tryLock(lock.descriptor, .exclusive, path) {
      guard !deadline.hasPassed else { throw .writerIsRunning(path) }
      // Shorter than writers wait, because the turnstile is free most of the time and never for
      // long.
      Deadline.pause(upTo: 1)
    }
    return lock
  }

  private static func tryLock(
    _ descriptor: FileDescriptor, _ kind: FileLock.Kind, _ path: String
  ) throws(KeychainError) -> Bool {
    do throws(Errno) {
      return try FileLock.tryLock(descriptor, kind)
    } catch {
      throw .system(error, "lock", path)
    }
  }
}

extension PrivateFile {
  /// Opens a file for a lock, without waiting if the name belongs to something else, such as a
  /// pipe.
  ///
  /// Returns the open file, or `nil` if it is missing.
  fileprivate static func openToLock(
    _ path: String, _ mode: FileDescriptor.AccessMode = .readOnly, flags: CInt = 0
  ) throws(FileError) -> FileDescriptor? {
    // Opening a device can have an effect, so check first.
    _ = try inspect(path)
    let descriptor: FileDescriptor
    do throws(Errno) {
      descriptor = try open(path, mode, flags: flags | O_NONBLOCK)
    } catch {
      guard error == .noSuchFileOrDirectory, flags & O_CREAT == 0 else {
        throw .failed(error, "open", path)
      }
      return nil
    }
    do throws(FileError) {
      try checkOpened(descriptor, path)
    } catch {
      try? descriptor.close()
      throw error
    }
    return descriptor
  }

  /// Checks what was opened, which may have replaced the file that was checked before.
  private static func checkOpened(
    _ descriptor: FileDescriptor, _ path: String
  ) throws(FileError) {
    let stat: Stat
    do throws(Errno) {
      stat = try Stat(descriptor)
    } catch {
      throw .failed(error, "look at", path)
    }
    try check(stat, path)
  }
}

extension KeychainError {
  static func migrationIsRunning(_ path: String) -> Self {
    Self(
      .busy, "a migration between the stores holds \(path)",
      recovery: "wait until it has ended, and try again")
  }

  fileprivate static func writerIsRunning(_ path: String) -> Self {
    Self(
      .busy, "another program holds \(path) and keeps writing, or was stopped",
      recovery: "end it or let it go on, and run the migration again: what was copied is kept")
  }
}
