internal import Foundation

/// A value behind a lock, with the methods of `Synchronization.Mutex`, which it replaces in this
/// module.
///
/// On Linux, `Synchronization.Mutex` waits with system calls of its own, which the thread sanitizer
/// reports as races. Programs that are built with the sanitizer would get false reports.
final class Mutex<Value>: @unchecked Sendable {
  // Unchecked because the compiler cannot see that the lock guards every use of the value.

  private let lock = NSLock()
  @exclusivity(unchecked) private var value: Value

  init(_ value: Value) { self.value = value }

  /// Reads or changes the value; other threads wait.
  func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
