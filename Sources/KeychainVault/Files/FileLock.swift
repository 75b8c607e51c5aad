internal import Glibc
internal import KeychainCredentials
internal import Synchronization
internal import SystemPackage

/// The moment by which a call must have ended; a person's pace is no part of it.
final class Deadline: Sendable {
  private let instant: Mutex<ContinuousClock.Instant>

  init(after duration: Duration) {
    instant = Mutex(.now + duration)
  }

  var hasPassed: Bool { ContinuousClock.now >= instant.withLock { $0 } }

  /// Runs what may ask a person, and puts the moment off by the time it takes.
  func excluding<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = ContinuousClock.now
    defer { instant.withLock { $0 += .now - start } }
    return try body()
  }

  /// Waits a moment, a little different each time so that waiters don't wake together.
  static func pause(upTo milliseconds: UInt32 = 10) {
    usleep(.random(in: 500...(milliseconds * 1000)))
  }
}

/// An advisory lock on a file, held until the value is destroyed (`flock`).
struct FileLock: ~Copyable {
  let descriptor: FileDescriptor

  /// Opens the file, making it if need be, and locks it.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/timedOut``, or with
  ///   ``KeychainError/Code/inputOutput`` if the file cannot be opened for writing.
  init(exclusive path: String, deadline: Deadline) throws(KeychainError) {
    let descriptor: FileDescriptor
    do throws(Errno) {
      descriptor = try PrivateFile.open(path, .readWrite, flags: O_CREAT)
    } catch {
      throw .system(error, "open", path)
    }
    guard Self.lock(descriptor, LOCK_EX, deadline) else {
      try? descriptor.close()
      throw KeychainError(
        .timedOut, "another process held \(path) for too long", recovery: .tryAgain)
    }
    self.descriptor = descriptor
  }

  /// Takes over an open file, which is locked later.
  init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

  deinit {
    // A child that was forked meanwhile has the descriptor as well, and would keep the lock.
    flock(descriptor.rawValue, LOCK_UN)
    try? descriptor.close()
  }

  /// Locks an open file; `false` if that was not possible by the deadline.
  static func lock(
    _ descriptor: FileDescriptor, _ operation: CInt, _ deadline: Deadline
  ) -> Bool {
    while true {
      guard let isLocked = try? tryLock(descriptor, operation) else { return false }
      guard !isLocked else { return true }
      guard !deadline.hasPassed else { return false }
      Deadline.pause()
    }
  }

  /// Locks an open file, unless somebody is in the way.
  static func tryLock(_ descriptor: FileDescriptor, _ operation: CInt) throws(Errno) -> Bool {
    while flock(descriptor.rawValue, operation | LOCK_NB) != 0 {
      switch Errno.current {
      case .wouldBlock: return false
      case .interrupted: continue
      case let error: throw error
      }
    }
    return true
  }
}
