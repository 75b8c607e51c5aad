internal import Glibc
package import KeychainCredentials
package import KeychainVault
internal import PrephirencesFiles
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

  private let state: StateFolder

  /// Names the lock; nothing is made before it is taken.
  package init(_ state: StateFolder) { self.state = state }

  /// Takes the lock together with others.
  ///
  /// - Parameter time: How long to wait for a migration.
  /// - Returns: The lock, or `nil` where the state folder can't be written: no store can be recorded
  ///   there, and no migration can run.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/busy`` if a migration holds or awaits it for
  ///   longer, ``KeychainError/Code/insecurePermissions`` if a file of the lock is not a regular file of
  ///   the user that is closed to others, or ``KeychainError/Code/inputOutput``.
  package func shared(within time: Duration) throws(KeychainError) -> Held? {
    let deadline = Deadline(after: time)
    let folder = try state.path()
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
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/busy`` if one of them holds it for longer,
  ///   ``KeychainError/Code/insecurePermissions`` if a file of the lock is not a regular file of the user
  ///   that is closed to others, or ``KeychainError/Code/inputOutput``.
  package func exclusive(within time: Duration) throws(KeychainError) -> Held {
    let deadline = Deadline(after: time)
    let folder = try state.make()
    let turnstile = try Self.lockAlone(folder + "/choice.turnstile", deadline)
    let path = folder + "/choice.lock"
    return Held(lock: try Self.lockAlone(path, deadline), turnstile: turnstile, path: path)
  }

  /// The generation as it is now; equal ones mean that no service has changed over in between.
  package func generation() -> Generation? {
    guard let path = try? state.path() + "/choice.lock",
      let stat = try? unsafe Stat(path, followTargetSymlink: false)
    else { return nil }
    return Generation(identity: stat.identity, length: stat.size)
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
