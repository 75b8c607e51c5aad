internal import PrephirencesSystem

/// A value behind a lock.
///
/// The value need not be `Sendable`; it can be a store or a closure.
///
/// Only code of this module may be called while the lock is held.
package final class Guarded<Value>: @unchecked Sendable {
  private let value: PosixMutex<Unchecked<Value>>

  package init(_ value: Value) {
    self.value = PosixMutex(Unchecked(value))
  }

  /// The value.
  ///
  /// The old value is destroyed outside the lock, because its destruction may run any code.
  package var current: Value {
    get { withLock { $0 } }
    set { _ = withLock { exchange(&$0, with: newValue) } }
  }

  /// Reads or changes the value; other threads wait.
  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    value.withLock { Unchecked(body(&$0.value)) }.value
  }
}

private func exchange<Value>(_ value: inout Value, with new: Value) -> Value {
  defer { value = new }
  return value
}

/// Lets a value pass between threads although its type is not `Sendable`.
///
/// Unchecked because the compiler cannot see that a lock guards every use.
private struct Unchecked<Value>: @unchecked Sendable {
  var value: Value

  init(_ value: Value) { self.value = value }
}
