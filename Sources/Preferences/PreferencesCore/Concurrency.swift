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

  /// The value; the old one is destroyed outside the lock, because that may run any code.
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

/// Passes a value between threads although its type is not `Sendable`.
///
/// Unchecked because the compiler cannot see that a lock guards every use.
private struct Unchecked<Value>: @unchecked Sendable {
  var value: Value

  init(_ value: Value) { self.value = value }
}

/// Items of work that wait for a thread.
package protocol PendingWork: Sendable {
  associatedtype Item
  mutating func popFirst() -> Item?
}

/// Work that an asynchronous sequence hands out, with a signal while there is some.
package final class SignalledWork<Work: PendingWork>: Sendable {
  /// Holds one signal while there is work.
  package let signals: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let pending: PosixMutex<Work>

  package init(_ work: Work) {
    pending = PosixMutex(work)
    (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  package func add(_ body: (inout Work) -> Void) {
    pending.withLock { body(&$0) }
    continuation.yield()
  }

  package func end() { continuation.finish() }

  /// Waits for the next item, or returns `nil` after the last.
  package func next(
    after signals: inout AsyncStream<Void>.Iterator, isolation actor: isolated (any Actor)?
  ) async -> Work.Item? {
    while true {
      if let item = popFirst() { return item }
      guard await signals.next(isolation: actor) != nil else { return popFirst() }
    }
  }

  private func popFirst() -> Work.Item? { pending.withLock { $0.popFirst() } }
}

/// Work that one thread at a time performs, in order, without holding a lock.
///
/// If another thread is working, or the work itself calls, the caller returns and that thread does
/// the new work too. No thread waits, so there is no deadlock.
package final class SerialQueue<Work: PendingWork>: Sendable {
  private struct State {
    var work: Work
    var isBusy: Bool
    var hasEnded = false
  }

  private let state: PosixMutex<State>

  /// Creates an idle queue, or a busy one that the caller must continue with ``runRest(_:)``.
  package init(_ work: Work, isBusy: Bool = false) {
    state = PosixMutex(State(work: work, isBusy: isBusy))
  }

  package func add(_ body: (inout Work) -> Void) {
    state.withLock { if !$0.hasEnded { body(&$0.work) } }
  }

  /// Performs the waiting work, unless another thread is already doing so.
  package func run(_ perform: (Work.Item) -> Void) {
    let isFree = state.withLock { state in
      guard !state.isBusy else { return false }
      state.isBusy = true
      return true
    }
    if isFree { runRest(perform) }
  }

  /// Performs the waiting work as the working thread, then marks the queue as idle.
  package func runRest(_ perform: (Work.Item) -> Void) {
    while let item = next() { perform(item) }
  }

  /// Whether the queue has ended and accepts no more work.
  package var hasEnded: Bool { state.withLock(\.hasEnded) }

  package func end() { state.withLock { $0.hasEnded = true } }

  private func next() -> Work.Item? {
    state.withLock { state in
      if !state.hasEnded, let item = state.work.popFirst() { return item }
      state.isBusy = false
      return nil
    }
  }
}
