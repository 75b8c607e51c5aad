internal import Glibc
package import KeychainCredentials
package import KeychainVault
internal import PrephirencesSystem
internal import SystemPackage

/// The lock on which store each service has: writers share it, and a migration holds it
/// exclusively.
///
/// It is the file `choice.lock` in the state folder, locked with `flock` through a new descriptor
/// each time, so that it works between threads as between processes. With one file, a migration
/// could wait forever while writers come and go. So it locks a second file first,
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
    fileprivate let path: String
  }

  /// Changes when a service changes over to another store.
  package struct Generation: Hashable, Sendable {
    let identity: FileIdentity
    let length: Int64
  }

  private let state: StateFolder

  /// Names the lock.
  ///
  /// Nothing is created before it is taken.
  package init(_ state: StateFolder) { self.state = state }

  /// Takes the shared lock.
  ///
  /// Returns the lock, or `nil` if the state folder is read-only: no store can be recorded there,
  /// and no migration can run.
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

  /// Takes the exclusive lock.
  ///
  /// Returns the lock.
  package func exclusive(within time: Duration) throws(KeychainError) -> Held {
    let deadline = Deadline(after: time)
    let folder = try state.make()
    let turnstile = try Self.lockAlone(folder + "/choice.turnstile", deadline)
    let path = folder + "/choice.lock"
    return Held(lock: try Self.lockAlone(path, deadline), turnstile: turnstile, path: path)
  }

  /// Returns the current generation.
  ///
  /// If two are equal, no service has changed over in between.
  package func generation() -> Generation? {
    guard let path = try? state.path() + "/choice.lock",
      let stat = try? unsafe Stat(path, followTargetSymlink: false)
    else { return nil }
    return Generation(identity: stat.identity, length: stat.size)
  }
}

extension ChoiceLock.Held {
  /// Begins a new generation.
  ///
  /// The caller must hold the exclusive lock.
  ///
  /// The length of the file is the number of the generation: reading it needs neither a lock nor an
  /// open file.
  package borrowing func beginGeneration() throws(KeychainError) {
    do {
      let length = try Stat(lock.descriptor).size
      _ = try lock.descriptor.writeAll(toAbsoluteOffset: length, [UInt8(ascii: "\n")])
    } catch {
      throw .system(error as? Errno ?? .ioError, "write", path)
    }
  }
}
