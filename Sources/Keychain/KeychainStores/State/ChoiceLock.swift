internal import Glibc
package import KeychainCredentials
package import KeychainVault
internal import PrephirencesSystem
internal import SystemPackage

/// The lock on the choice of store of each service: writers share it, and a migration holds it
/// exclusively.
///
/// It is the file `choice.lock` in the state folder, locked with `flock` through a new descriptor
/// each time, so that it works between threads as between processes. With one file, a migration
/// could wait forever while writers come and go. So it first locks a second file,
/// `choice.turnstile`: while that is locked, no writer begins to share the lock. Writers never wait
/// for the turnstile while they hold the lock, and hold the turnstile only while they check that it
/// is free.
///
/// The order of locks is `migration.lock`, this one, then the writer locks of the stores.
package final class ChoiceLock: Sendable {
  /// The held lock; released when the value is destroyed.
  package struct Held: ~Copyable {
    fileprivate let lock: FileLock
    fileprivate let turnstile: FileLock?
  }

  private let state: StateFolder
  private let notice: (@Sendable (Notice) -> Void)?

  /// Names the lock.
  ///
  /// - Parameters:
  ///   - state: The folder with its files.
  ///   - notice: Called when a writer has to wait.
  package init(_ state: StateFolder, notice: (@Sendable (Notice) -> Void)? = nil) {
    self.state = state
    self.notice = notice
  }

  /// Takes the shared lock; `nil` if the state folder is read-only: then no store can be recorded
  /// there, and no migration can run.
  package func shared(within time: Duration) throws(KeychainError) -> Held? {
    let deadline = Deadline(after: time)
    let folder = try state.path()
    let path = folder + "/choice.lock"
    guard let descriptor = try openForSharing(path, in: folder) else { return nil }
    let lock = FileLock(descriptor)
    var isWaiting = false
    while try !Self.tryShare(descriptor, path, turnstile: folder + "/choice.turnstile") {
      guard !deadline.hasPassed else { throw .migrationIsRunning(path) }
      if !isWaiting { notice?(.waitsForMigration) }
      isWaiting = true
      Deadline.pause()
    }
    return Held(lock: lock, turnstile: nil)
  }

  /// Takes the exclusive lock.
  package func exclusive(within time: Duration) throws(KeychainError) -> Held {
    let deadline = Deadline(after: time)
    let folder = try state.make()
    let turnstile = try Self.lockAlone(folder + "/choice.turnstile", deadline)
    let path = folder + "/choice.lock"
    return Held(lock: try Self.lockAlone(path, deadline), turnstile: turnstile)
  }
}

extension Notice {
  fileprivate static let waitsForMigration = Notice(
    kind: .waitsForMigration, message: "waiting for a migration between the stores to end")
}

// The two files of the lock.
extension ChoiceLock {
  /// Opens the file for a shared lock, even in a read-only folder; `nil` if it is missing and
  /// cannot be created.
  func openForSharing(_ path: String, in folder: String) throws(KeychainError) -> FileDescriptor? {
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

  /// Shares the lock, unless a migration holds it or waits for it.
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
    else { throw .system(.noSuchFileOrDirectory, "open", path) }
    let lock = FileLock(descriptor)
    while try !tryLock(lock.descriptor, .exclusive, path) {
      guard !deadline.hasPassed else { throw .writerIsRunning(path) }
      // Shorter than the pauses of writers: the turnstile is free most of the time, and never
      // locked for long.
      Deadline.pause(upTo: 1)
    }
    return lock
  }

  private static func tryLock(
    _ descriptor: FileDescriptor, _ kind: FileLock.Kind, _ path: String
  ) throws(KeychainError) -> Bool {
    try translated(onFile(path, "lock", FileLock.tryLock(descriptor, kind)))
  }
}

extension PrivateFile {
  /// Opens a file for a lock; `nil` if it is missing.
  ///
  /// If something else has the name, such as a pipe, it does not wait.
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

  /// Checks the open file, which may have replaced the file that was checked before.
  private static func checkOpened(_ descriptor: FileDescriptor, _ path: String) throws(FileError) {
    let stat = try onFile(path, "look at", Stat(descriptor))
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
      recovery: "end it or let it continue, and run the migration again: copies are kept")
  }
}

/// A lock for work that only one process of the user may do at a time, until the value is
/// destroyed.
struct StateLock: ~Copyable {
  private let lock: FileLock

  init(_ name: String, in state: StateFolder, within time: Duration = .zero) throws(KeychainError) {
    let path = try state.make() + "/" + name
    do throws(FileError) {
      lock = try FileLock(exclusive: path, deadline: Deadline(after: time))
    } catch {
      guard error.kind == .timedOut else { throw KeychainError(error) }
      throw KeychainError(
        .busy, "another process holds \(error.path)",
        recovery: "wait until it has ended, and try again")
    }
  }
}
