internal import Synchronization

/// A value behind a lock, also one that is not `Sendable`, such as a store or a closure.
///
/// Nothing that is not of this module may be called while the lock is held.
final class Guarded<Value>: @unchecked Sendable {
  private let value: Mutex<Unchecked<Value>>

  init(_ value: Value) {
    self.value = Mutex(Unchecked(value))
  }

  /// The value; an old one is destroyed without the lock, as that may do anything.
  var current: Value {
    get { withLock { $0 } }
    set { _ = withLock { exchange(&$0, with: newValue) } }
  }

  /// Reads or changes the value while no other thread does.
  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    value.withLock { Unchecked(body(&$0.value)) }.value
  }
}

private func exchange<Value>(_ value: inout Value, with new: Value) -> Value {
  defer { value = new }
  return value
}

/// A value that passes between threads although its type does not say that it may.
///
/// Unchecked because the compiler cannot see that a lock is around its uses.
private struct Unchecked<Value>: @unchecked Sendable {
  var value: Value

  init(_ value: Value) { self.value = value }
}
