internal import CPrephirencesSystem
internal import Glibc
internal import Synchronization
package import SystemPackage

/// An advisory lock on a file, held until the value is destroyed (`flock`).
package struct FileLock: ~Copyable {
  /// Whether others may hold the lock at the same time.
  package enum Kind {
    case shared
    case exclusive

    fileprivate var operation: CInt { self == .shared ? LOCK_SH : LOCK_EX }
  }

  package let descriptor: FileDescriptor

  /// Opens the file, creating it if needed, and locks it.
  package init(exclusive path: String, deadline: Deadline) throws(FileError) {
    let descriptor = try onFile(path, "open", PrivateFile.open(path, .readWrite, flags: O_CREAT))
    try self.init(exclusive: descriptor, path, deadline: deadline)
  }

  /// Locks an open file, and takes ownership of it; it is closed if that fails.
  package init(
    exclusive descriptor: FileDescriptor, _ path: String, deadline: Deadline
  ) throws(FileError) {
    do throws(FileError) {
      try Self.lock(descriptor, path, deadline)
    } catch {
      try? descriptor.close()
      throw error
    }
    self.descriptor = descriptor
  }

  private static func lock(
    _ descriptor: FileDescriptor, _ path: String, _ deadline: Deadline
  ) throws(FileError) {
    let isLocked = try onFile(path, "lock", lock(descriptor, .exclusive, deadline))
    guard isLocked else { throw FileError(.timedOut, path) }
  }

  /// Takes ownership of an open file, which is locked later.
  package init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

  deinit {
    // A child that was forked meanwhile has the descriptor, too, and would keep the lock.
    flock(descriptor.rawValue, LOCK_UN)
    try? descriptor.close()
  }

  /// Locks an open file; `false` if another process held the lock until the deadline.
  ///
  /// Waiting may replace the open file behind the descriptor by another opening of the same file in
  /// the same mode: the position in the file and other duplicates of the descriptor are lost.
  package static func lock(
    _ descriptor: FileDescriptor, _ kind: Kind, _ deadline: Deadline
  ) throws(Errno) -> Bool {
    // Most locks are held for a shorter time.
    let soon = Deadline(after: .milliseconds(1))
    while try !tryLock(descriptor, kind) {
      guard !deadline.hasPassed else { return false }
      if soon.hasPassed { return try waitForLock(descriptor, kind, deadline) }
      usleep(50)
    }
    return true
  }

  private static func waitForLock(
    _ descriptor: FileDescriptor, _ kind: Kind, _ deadline: Deadline
  ) throws(Errno) -> Bool {
    if let waiter = LockWaiter(of: descriptor, kind.operation) {
      return try waiter.wait(deadline, movingLockTo: descriptor)
    }
    while try !tryLock(descriptor, kind) {
      guard !deadline.hasPassed else { return false }
      Deadline.pause()
    }
    return true
  }

  /// Locks an open file, unless another process holds the lock; `false` if one does.
  package static func tryLock(_ descriptor: FileDescriptor, _ kind: Kind) throws(Errno) -> Bool {
    do throws(Errno) {
      _ = try Interruptions.repeating { flock(descriptor.rawValue, kind.operation | LOCK_NB) }
      return true
    } catch {
      guard error == .wouldBlock else { throw error }
      return false
    }
  }

  /// Returns the process that holds an exclusive lock on an open file; `nil` if it is not visible.
  package static func holder(of descriptor: FileDescriptor) -> RunningProcess? {
    guard let inode = try? Stat(descriptor).identity.inode else { return nil }
    // See proc_locks(5): number, kind, whether it is binding, access, process, device and inode.
    // Waiting processes have an arrow before the kind. Some file systems report another device.
    let holders = (SystemText.contents(of: "/proc/locks") ?? "").split(separator: "\n").compactMap {
      line -> Int32? in
      let fields = line.split(separator: " ")
      guard fields.count > 5, fields[1] == "FLOCK", fields[3] == "WRITE",
        let end = fields[5].lastIndex(of: ":"), UInt64(fields[5][end...].dropFirst()) == inode
      else { return nil }
      return Int32(fields[4])
    }
    guard holders.count == 1, let holder = holders.first, holder > 0 else { return nil }
    return RunningProcess(holder)
  }
}

/// A process of this machine, as the kernel shows it.
package struct RunningProcess {
  package let number: Int32

  package init(_ number: Int32) { self.number = number }

  /// Whether it is stopped by a signal, as by Ctrl-Z, and does nothing until it is continued.
  package var isStopped: Bool {
    // See proc_pid_stat(5): the state follows the name in parentheses, which may contain
    // parentheses.
    let text = SystemText.contents(of: "/proc/\(number)/stat") ?? ""
    guard let end = text.lastIndex(of: ")") else { return false }
    return text[end...].dropFirst(2).first == "T"
  }
}

/// A thread that waits for a lock in the kernel, which wakes it as soon as the lock is free.
///
/// The system call takes no deadline. So the thread opens the file again for itself, and hands that
/// lock over, or releases it if its caller has stopped waiting.
final class LockWaiter: Sendable {
  private enum State {
    case waiting
    case locked
    case failed(Errno)
    /// The deadline has passed.
    case abandoned
    case handedOver
  }

  /// Above this number of waiting threads in a process, callers get none: an abandoned thread stays
  /// as long as the lock is held.
  private static let greatestCount = 64
  private static let count = Atomic(0)

  private let file: FileDescriptor
  private let operation: CInt
  private let state = PosixMutex(State.waiting)

  /// Becomes readable when the thread has ended.
  private let finished: FileDescriptor
  private let finish: FileDescriptor

  /// Begins to wait; `nil` if /proc is missing, or if there are too many threads or open files.
  init?(of descriptor: FileDescriptor, _ operation: CInt) {
    guard let file = Self.reopen(descriptor) else { return nil }
    guard let (finished, finish) = try? DescriptorIO.pipe() else {
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
      try DetachedThread.start(named: "lock") { self.run() }
    } catch { return nil }
  }

  deinit {
    Self.count.subtract(1, ordering: .relaxed)
    if !isHandedOver { Self.close(file) }
    for end in [finished, finish] { try? end.close() }
  }

  /// Waits for the lock, and moves it to the caller's descriptor; `false` at the deadline.
  func wait(_ deadline: Deadline, movingLockTo descriptor: FileDescriptor) throws(Errno) -> Bool {
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

  private var isWaiting: Bool {
    state.withLock { if case .waiting = $0 { true } else { false } }
  }

  private func run() {
    var failure: Errno?
    while flock(file.rawValue, operation) != 0 {
      // Signals may interrupt it any number of times while its caller waits.
      if errno == EINTR, isWaiting { continue }
      failure = .current
      break
    }
    state.withLock { state in
      if case .abandoned = state {
        // A child that was forked meanwhile has the descriptor, too, and would keep the lock.
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
      // The link leads to the open file, even if the file's name was removed.
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
