internal import Foundation

/// A value behind a lock, with the methods of `Synchronization.Mutex`, in whose place it stands in
/// this module.
///
/// That one waits by system calls of its own on Linux, which the thread sanitizer takes for races
/// wherever two threads meet: programs that are built with it would be told of faults that are none.
final class Mutex<Value>: @unchecked Sendable {
  // Unchecked because the compiler cannot see that the lock is around all uses of the value.

  private let lock = NSLock()
  @exclusivity(unchecked) private var value: Value

  init(_ value: Value) { self.value = value }

  /// Reads or changes the value while no other thread does.
  func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
