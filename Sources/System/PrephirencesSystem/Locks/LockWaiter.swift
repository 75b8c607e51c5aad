internal import CPrephirencesSystem
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// A thread that waits for a lock in the kernel, which wakes it as soon as the lock is free.
///
/// The call cannot be given a deadline. So the thread has an opening of the file of its own, whose
/// lock is handed over, or let go if nobody waits any more.
final class LockWaiter: Sendable {
  private enum State {
    case waiting
    case locked
    case failed(Errno)
    /// The deadline has passed.
    case abandoned
    case handedOver
  }

  /// Above this number of waiting threads in a process, a caller gets none: those that were abandoned
  /// stay as long as the lock is held.
  private static let greatestCount = 64
  private static let count = Atomic(0)

  private let file: FileDescriptor
  private let operation: CInt
  private let state = PosixMutex(State.waiting)

  /// Becomes readable when the thread has ended.
  private let finished: FileDescriptor
  private let finish: FileDescriptor

  /// Begins to wait; `nil` if that is not possible here, because /proc is missing, or there are too
  /// many threads or open files.
  init?(of descriptor: FileDescriptor, _ operation: CInt) {
    guard let file = Self.reopen(descriptor) else { return nil }
    guard let (finished, finish) = try? FileDescriptor.pipe() else {
      Self.close(file)
      return nil
    }
    self.file = file
    self.operation = operation
    self.finished = finished
    self.finish = finish
    let count = Self.count.add(1, ordering: .relaxed).newValue
    do throws(Errno) {
      guard count <= Self.greatestCount else { throw .resourceTemporarilyUnavailable }
      for end in [finished, finish] { _ = fcntl(end.rawValue, F_SETFD, FD_CLOEXEC) }
      try DetachedThread.start(named: "lock") { self.run() }
    } catch { return nil }
  }

  deinit {
    Self.count.subtract(1, ordering: .relaxed)
    if !isHandedOver { Self.close(file) }
    for end in [finished, finish] { try? end.close() }
  }

  /// Waits for the lock, and moves it to the descriptor of its caller.
  ///
  /// - Returns: `false` at the deadline.
  func wait(
    _ deadline: Deadline, movingLockTo descriptor: FileDescriptor
  ) throws(Errno) -> Bool {
    _ = deadline.awaitInput(finished.rawValue)
    try state.withLock { state throws(Errno) in
      switch state {
      case .failed(let error): throw error
      case .locked:
        guard dup3(file.rawValue, descriptor.rawValue, O_CLOEXEC) < 0 else {
          // The thread may not have ended: without this, the lock would outlive the descriptor.
          Self.close(file)
          state = .handedOver
          return
        }
        let error = Errno.current
        flock(file.rawValue, LOCK_UN)
        throw error
      case .waiting, .abandoned, .handedOver: state = .abandoned
      }
    }
    return isHandedOver
  }

  private var isHandedOver: Bool {
    state.withLock { if case .handedOver = $0 { true } else { false } }
  }

  private func run() {
    var failure: Errno?
    while flock(file.rawValue, operation) != 0 {
      guard errno != EINTR else { continue }
      failure = .current
      break
    }
    state.withLock { state in
      if case .abandoned = state {
        // A child that was forked meanwhile has the descriptor too, and would keep the lock.
        flock(file.rawValue, LOCK_UN)
      } else {
        state = failure.map { .failed($0) } ?? .locked
      }
    }
    try? DescriptorIO.write([0], to: finish)
  }

  /// Opens the same file again, with a lock of its own.
  private static func reopen(_ descriptor: FileDescriptor) -> FileDescriptor? {
    let mode = fcntl(descriptor.rawValue, F_GETFL) & O_ACCMODE
    return try? UninheritedFiles.open { () throws(Errno) in
      // Follows the link, which leads to the open file, even if it has no name any more.
      do {
        return try FileDescriptor.open(
          FilePath("/proc/self/fd/\(descriptor.rawValue)"), .init(rawValue: mode),
          options: [.closeOnExec, .nonBlocking])
      } catch { throw error as? Errno ?? .invalidArgument }
    }
  }

  private static func close(_ file: FileDescriptor) {
    UninheritedFiles.forget(file)
    try? file.close()
  }
}
