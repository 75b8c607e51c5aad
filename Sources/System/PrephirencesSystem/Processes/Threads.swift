package import Glibc
internal import Synchronization
package import SystemPackage

/// Starts threads that nobody waits for.
///
/// Foundation's `Thread` does not report that the system has no more threads.
package enum DetachedThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  package static func start(
    named name: String, _ body: @escaping @Sendable () -> Void
  ) throws(Errno) {
    let body = unsafe Unmanaged.passRetained(
      Body {
        setName(name)
        body()
      })
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, body.toOpaque())
    guard code == 0 else {
      unsafe body.release()
      throw Errno(rawValue: code)
    }
    pthread_detach(thread)
  }

  private static func setName(_ name: String) {
    guard
      let file = unsafe try? FileDescriptor.open(
        "/proc/thread-self/comm", .writeOnly, options: .closeOnExec)
    else { return }
    try? DescriptorIO.write(Array(name.utf8), to: file)
    try? file.close()
  }
}

/// The time by which a call must end.
///
/// All holders of the object share it: time that ``excluding(_:)`` leaves out is left out for all
/// of them.
package final class Deadline: Sendable {
  private let instant: PosixMutex<ContinuousClock.Instant>

  /// Creates a deadline; durations above about a century are shortened to that.
  package convenience init(after duration: Duration) {
    // The clock cannot wait without limit.
    self.init(.now + min(duration, .seconds(3_000_000_000)))
  }

  private init(_ instant: ContinuousClock.Instant) { self.instant = PosixMutex(instant) }

  package var hasPassed: Bool { ContinuousClock.now >= end }

  /// The time, as it is now.
  package var end: ContinuousClock.Instant { instant.withLock { $0 } }

  /// The remaining seconds, at least 0.
  package var seconds: Double { max(0, ContinuousClock.now.duration(to: end) / .seconds(1)) }

  /// The remaining time, at least 0.
  package var left: Duration { .seconds(seconds) }

  /// The remaining milliseconds, rounded up, for `poll` and GLib: at least 1.
  package var milliseconds: CInt { CInt(clamping: max(1, Int((seconds * 1000).rounded(.up)))) }

  /// Returns another deadline, which ends later by `duration`.
  package func postponed(by duration: Duration) -> Deadline { Deadline(end + duration) }

  /// Returns another deadline, which ends with the earlier of the two.
  package func limited(by other: Deadline) -> Deadline { Deadline(min(end, other.end)) }

  /// Runs code that may ask a person, and postpones the deadline by its duration.
  package func excluding<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = ContinuousClock.now
    defer { instant.withLock { $0 += .now - start } }
    return try body()
  }

  /// Waits until a descriptor has something to read, or has ended.
  ///
  /// - Returns: `false` at the deadline.
  package func awaitInput(_ descriptor: CInt) -> Bool {
    var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while !hasPassed {
      if unsafe poll(&source, 1, milliseconds) > 0 { return true }
    }
    return false
  }

  /// Waits until a descriptor takes something, or fails; looks once after the deadline, too.
  ///
  /// - Returns: `false` at the deadline.
  package func awaitOutput(_ descriptor: CInt) -> Bool {
    var target = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    repeat {
      if unsafe poll(&target, 1, milliseconds) > 0 { return true }
    } while !hasPassed
    return false
  }

  /// Waits a moment of random length, so that waiting processes don't wake together.
  package static func pause(upTo milliseconds: UInt32 = 10) {
    usleep(.random(in: 500...(milliseconds * 1000)))
  }
}

/// A value behind a lock, with the methods of `Synchronization.Mutex`.
///
/// On Linux, `Synchronization.Mutex` waits with system calls of its own, which the thread sanitizer
/// reports as races as soon as two threads want it at the same time. It knows this lock.
@safe
package final class PosixMutex<Value>: @unchecked Sendable {
  // Unchecked because the compiler cannot see that the lock guards every use of the value.

  // Allocated, because a lock must not move.
  @usableFromInline let lock: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline @exclusivity(unchecked) var value: Value

  @inlinable package init(_ value: Value) {
    unsafe lock = .allocate(capacity: 1)
    // With constant attributes, neither this nor locking can fail.
    unsafe lock.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(lock, nil)
    unsafe self.value = value
  }

  deinit {
    unsafe pthread_mutex_destroy(lock)
    unsafe lock.deallocate()
  }

  /// Reads or changes the value; other threads wait.
  @inlinable package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return try unsafe body(&value)
  }
}

extension PosixMutex where Value == Void {
  /// Creates a lock that guards what lies outside of it.
  package convenience init() { self.init(()) }

  /// Runs code while other threads wait.
  @inlinable package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Not by the value: it has no size and lies at the object's own address, which the thread
    // sanitizer takes for a change of the object.
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return try body()
  }
}

/// A value behind a lock, whose threads can wait until another one has changed it.
@safe
package final class PosixCondition<Value>: @unchecked Sendable {
  // Unchecked because the compiler cannot see that the lock guards every use of the value.

  @usableFromInline let lock: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>
  @usableFromInline var value: Value

  package init(_ value: Value) {
    unsafe lock = .allocate(capacity: 1)
    unsafe lock.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(lock, nil)
    unsafe condition = .allocate(capacity: 1)
    unsafe condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    // The clock of the day may be set.
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
    self.value = value
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deallocate()
    unsafe pthread_mutex_destroy(lock)
    unsafe lock.deallocate()
  }

  /// Reads or changes the value, and wakes nobody.
  @inlinable package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return body(&value)
  }

  /// Changes the value, and wakes all threads that wait, or only one.
  @inlinable package func change<Result>(
    wakingAll: Bool = true, _ body: (inout Value) -> Result
  ) -> Result {
    unsafe pthread_mutex_lock(lock)
    defer {
      if wakingAll {
        unsafe pthread_cond_broadcast(condition)
      } else {
        unsafe pthread_cond_signal(condition)
      }
      unsafe pthread_mutex_unlock(lock)
    }
    return body(&value)
  }

  /// Waits until the value meets a condition, at most for a duration.
  ///
  /// - Returns: Whether it does.
  package func wait(_ duration: Duration?, until isMet: (inout Value) -> Bool) -> Bool {
    let end = duration.map { ContinuousClock.now + $0 }
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    while !isMet(&value) {
      guard let end else {
        unsafe pthread_cond_wait(condition, lock)
        continue
      }
      let rest = ContinuousClock.now.duration(to: end)
      guard rest > .zero else { return false }
      // In steps: that clock stands still while the machine sleeps.
      var time = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC, &time)
      let (seconds, attoseconds) = min(rest, .seconds(5)).components
      let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
      time.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
      time.tv_nsec = nanoseconds % 1_000_000_000
      unsafe pthread_cond_timedwait(condition, lock, &time)
    }
    return true
  }
}

/// Counts the forks of this process, with handlers that run in any thread that forks and so must
/// neither lock nor allocate.
private enum Forks {
  /// How often this process has forked, or begun to.
  static let begun = Atomic(0)

  /// How often this process and those that it was forked from were forked.
  static let passed = Atomic(0)

  static let areCounted: Bool = {
    // Initialized before the handlers can run.
    begun.store(0, ordering: .sequentiallyConsistent)
    passed.store(0, ordering: .sequentiallyConsistent)
    UninheritedFiles.initialize()
    return pthread_atfork(
      { Forks.begun.add(1, ordering: .sequentiallyConsistent) }, nil,
      {
        Forks.passed.add(1, ordering: .sequentiallyConsistent)
        UninheritedFiles.closeAll()
      }) == 0
  }()
}

/// Notices that this process was forked from one that used something of which a child must use
/// nothing, not even a lock: another thread may have held it at the fork, and then it stays held
/// for ever.
package final class ForkMark: Sendable {
  /// The number of forks at the first use; negative before.
  private let first = Atomic(-1)

  package init() {}

  /// Records that this process uses it.
  package func set() {
    _ = Forks.areCounted
    let present = Forks.passed.load(ordering: .relaxed)
    _ = first.compareExchange(expected: -1, desired: present, ordering: .relaxed)
  }

  /// Whether it was used before a fork that made this process.
  package var isForked: Bool {
    let first = first.load(ordering: .relaxed)
    return first >= 0 && first != Forks.passed.load(ordering: .relaxed)
  }

  /// Fails if it was used before a fork that made this process.
  package func check<Failure: Error>(
    _ failure: @autoclosure () -> Failure
  ) throws(Failure) { if isForked { throw failure() } }
}

/// Open files that a forked child does not have.
///
/// A child inherits a lock (`flock`) together with the descriptor, and holds it when the parent has
/// ended. Here, it closes the descriptor as its first action.
package enum UninheritedFiles {
  /// The descriptors, or -1; as many as there can be, since a handler of forks allocates nothing.
  private static let numbers = (0..<256).map { _ in Number() }

  private final class Number: Sendable {
    let value = Atomic<CInt>(-1)
    /// Code that closes all descriptors lets another file have its number.
    let inode = Atomic<UInt64>(0)
  }

  fileprivate static func initialize() {
    for number in numbers { number.value.store(-1, ordering: .sequentiallyConsistent) }
  }

  /// Opens a file; call ``forget(_:)`` before it is closed.
  ///
  /// Above 256 of them, children inherit them.
  package static func open(
    _ body: () throws(Errno) -> FileDescriptor
  ) throws(Errno) -> FileDescriptor {
    _ = Forks.areCounted
    while true {
      let before = Forks.begun.load(ordering: .sequentiallyConsistent)
      let descriptor = try body()
      insert(descriptor.rawValue)
      // A child that was forked before that has it.
      guard Forks.begun.load(ordering: .sequentiallyConsistent) != before else { return descriptor }
      forget(descriptor)
      try? descriptor.close()
    }
  }

  /// Forgets a file that is closed next.
  package static func forget(_ descriptor: FileDescriptor) {
    for number in numbers {
      let isIt = number.value.compareExchange(
        expected: descriptor.rawValue, desired: -1, ordering: .sequentiallyConsistent
      ).exchanged
      if isIt { return }
    }
  }

  private static func insert(_ descriptor: CInt) {
    for number in numbers {
      let isFree = number.value.compareExchange(
        expected: -1, desired: descriptor, ordering: .sequentiallyConsistent
      ).exchanged
      guard isFree else { continue }
      return number.inode.store(inode(descriptor) ?? 0, ordering: .sequentiallyConsistent)
    }
  }

  fileprivate static func closeAll() {
    for number in numbers {
      let descriptor = number.value.exchange(-1, ordering: .sequentiallyConsistent)
      let inode = number.inode.load(ordering: .sequentiallyConsistent)
      if descriptor >= 0, Self.inode(descriptor) == inode { _ = Glibc.close(descriptor) }
    }
  }

  private static func inode(_ descriptor: CInt) -> UInt64? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
  }
}

/// Objects that others keep alive, one for each key.
package final class WeakRegistry<Key: Hashable & Sendable, Object: AnyObject & Sendable>: Sendable {
  private struct Entry {
    weak var object: Object?
  }

  private let entries = PosixMutex<[Key: Entry]>([:])

  package init() {}

  /// Returns the object of a key; a new one if nobody has it.
  package func object(for key: Key, _ make: () -> Object) -> Object {
    entries.withLock { entries in
      if let object = entries[key]?.object { return object }
      entries = entries.filter { $1.object != nil }
      let object = make()
      entries[key] = Entry(object: object)
      return object
    }
  }

  /// The objects that somebody has.
  ///
  /// Every program asks at its start: to map even nothing, the runtime would search for
  /// conformances of the dictionary, which took a tenth of the instructions of a `get`.
  package var all: [Object] {
    entries.withLock { $0.isEmpty ? [] : $0.values.compactMap { $0.object } }
  }
}
