internal import Glibc
package import KeychainCredentials
internal import Synchronization
internal import SystemPackage

/// The lock on which store each service has: writers share it, and a migration holds it alone.
///
/// It is a file in the state folder, `choice.lock`, that is locked with `flock`, each time through a
/// descriptor of its own, so that threads keep each other out as processes do. Who wants it alone would
/// starve beside writers that come and go. So a second file, `choice.turnstile`, is locked first: while
/// somebody holds that, nobody begins to share the lock. Writers never wait for it with the lock in
/// their hands, and hold it only as long as it takes to see that it is open.
///
/// The order of locks is `migration.lock`, this one, then the writer locks of the stores.
package final class ChoiceLock: Sendable {
  /// The lock in somebody's hands, until the value is destroyed.
  package struct Held: ~Copyable {
    fileprivate let lock: FileLock
    fileprivate let turnstile: FileLock?
    fileprivate let path: String
  }

  /// What tells whether a service has changed over to another store in between.
  package struct Generation: Hashable, Sendable {
    let identity: FileIdentity
    let length: Int64
  }

  private let locations: Locations
  private let resolved = Mutex<String?>(nil)

  /// Names the lock; nothing is made before it is taken.
  package init(environment: VaultEnvironment) { locations = Locations(environment: environment) }

  /// Takes the lock together with others.
  ///
  /// - Parameter time: How long to wait for a migration.
  /// - Returns: The lock, or `nil` where the state folder can't be written: no store can be recorded
  ///   there, and no migration can run.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/busy`` if a migration holds or awaits it for
  ///   longer, or ``KeychainError/Code/inputOutput``.
  package func shared(within time: Duration) throws(KeychainError) -> Held? {
    let deadline = Deadline(after: time)
    let folder = try folder()
    let path = folder + "/choice.lock"
    guard let descriptor = try openForSharing(path, in: folder) else { return nil }
    let lock = FileLock(descriptor)
    while try !Self.tryShare(descriptor, path, turnstile: folder + "/choice.turnstile") {
      guard !deadline.hasPassed else { throw .migrationIsRunning(path) }
      Deadline.pause()
    }
    return Held(lock: lock, turnstile: nil, path: path)
  }

  /// Takes the lock alone.
  ///
  /// - Parameter time: How long to wait for writers.
  /// - Returns: The lock.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/busy`` if one of them holds it for longer, or
  ///   ``KeychainError/Code/inputOutput``.
  package func exclusive(within time: Duration) throws(KeychainError) -> Held {
    let deadline = Deadline(after: time)
    let folder = try folder()
    try PrivateFile.makeFolder(folder)
    let turnstile = try Self.lockAlone(folder + "/choice.turnstile", deadline)
    let path = folder + "/choice.lock"
    return Held(lock: try Self.lockAlone(path, deadline), turnstile: turnstile, path: path)
  }

  /// The generation as it is now; equal ones mean that no service has changed over in between.
  package func generation() -> Generation? {
    guard let path = try? folder() + "/choice.lock",
      let stat = try? unsafe Stat(path, followTargetSymlink: false)
    else { return nil }
    return Generation(identity: stat.identity, length: stat.size)
  }

  /// The folder, whose path is checked once it is there: before, it may lead elsewhere later.
  private func folder() throws(KeychainError) -> String {
    if let folder = resolved.withLock({ $0 }) { return folder }
    let folder = try TrustedPath(resolving: locations.stateFolder()).path
    if unsafe access(folder, F_OK) == 0 { resolved.withLock { $0 = folder } }
    return folder
  }
}

extension ChoiceLock.Held {
  /// Begins a new generation; for who holds the lock alone.
  ///
  /// The length of the file counts them: reading that needs neither a lock nor an open file.
  package borrowing func beginGeneration() throws(KeychainError) {
    do {
      let length = try Stat(lock.descriptor).size
      _ = try lock.descriptor.writeAll(toAbsoluteOffset: length, [UInt8(ascii: "\n")])
    } catch {
      throw .system(error as? Errno ?? .ioError, "write", path)
    }
  }
}

extension ChoiceLock {
  /// Opens the file for a lock that is shared, which a folder that can't be written has as well.
  private func openForSharing(
    _ path: String, in folder: String
  ) throws(KeychainError) -> FileDescriptor? {
    do throws(Errno) {
      return try PrivateFile.open(path)
    } catch {
      guard error == .noSuchFileOrDirectory else { throw .system(error, "open", path) }
    }
    do throws(KeychainError) {
      try PrivateFile.makeFolder(folder)
    } catch {
      // ENOENT: what the system makes itself, such as automatic mounts.
      guard error.isSystemError(Self.unwritable + [ENOENT]) else { throw error }
      return nil
    }
    do throws(Errno) {
      return try PrivateFile.open(path, flags: O_CREAT)
    } catch {
      guard Self.unwritable.contains(error.rawValue) else { throw .system(error, "make", path) }
      return nil
    }
  }

  /// The errors of a folder in which no program of the user can make anything.
  private static let unwritable = [EROFS, EACCES, EPERM]

  private static func tryShare(
    _ descriptor: FileDescriptor, _ path: String, turnstile: String
  ) throws(KeychainError) -> Bool {
    guard try isOpen(turnstile) else { return false }
    return try tryLock(descriptor, LOCK_SH, path)
  }

  /// Whether nobody holds the turnstile, or waits with it in hand.
  private static func isOpen(_ path: String) throws(KeychainError) -> Bool {
    do throws(Errno) {
      let turnstile = FileLock(try PrivateFile.open(path))
      return try FileLock.tryLock(turnstile.descriptor, LOCK_SH)
    } catch {
      // The first migration makes it.
      guard error == .noSuchFileOrDirectory else { throw .system(error, "lock", path) }
      return true
    }
  }

  private static func lockAlone(
    _ path: String, _ deadline: Deadline
  ) throws(KeychainError) -> FileLock {
    let lock: FileLock
    do throws(Errno) {
      lock = FileLock(try PrivateFile.open(path, .readWrite, flags: O_CREAT))
    } catch {
      throw .system(error, "open", path)
    }
    while try !tryLock(lock.descriptor, LOCK_EX, path) {
      guard !deadline.hasPassed else { throw .writerIsRunning(path) }
      // Shorter than writers wait: the turnstile is free most of the time, and never for long.
      Deadline.pause(upTo: 1)
    }
    return lock
  }

  private static func tryLock(
    _ descriptor: FileDescriptor, _ operation: CInt, _ path: String
  ) throws(KeychainError) -> Bool {
    do throws(Errno) {
      return try FileLock.tryLock(descriptor, operation)
    } catch {
      throw .system(error, "lock", path)
    }
  }
}

extension KeychainError {
  fileprivate func isSystemError(_ numbers: [CInt]) -> Bool {
    guard case .system(let number) = underlying else { return false }
    return numbers.contains(number)
  }

  fileprivate static func migrationIsRunning(_ path: String) -> Self {
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
