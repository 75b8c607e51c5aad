internal import Foundation

/// A value that is read once.
///
/// Unchecked because the lock guards every use of the value.
final class DefaultsCache<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value?
  private var generation = 0

  /// Returns the kept value, or reads it and keeps it.
  func value(_ read: () -> Value) -> Value {
    let (kept, before) = lock.withLock { (value, generation) }
    if let kept { return kept }
    let fresh = read()
    // A value that was replaced while it was read is not kept.
    lock.withLock { if generation == before { value = fresh } }
    return fresh
  }

  /// Reads the value again when it is next needed.
  func forget() {
    lock.withLock {
      value = nil
      generation += 1
    }
  }
}
