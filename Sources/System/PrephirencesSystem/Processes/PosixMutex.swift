package import Glibc

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
