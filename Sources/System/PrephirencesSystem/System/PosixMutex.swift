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
  @inlinable package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return try unsafe body(&value)
  }
}
