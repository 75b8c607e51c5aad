internal import Synchronization

/// What waits to be done.
protocol PendingWork: Sendable {
  associatedtype Item
  mutating func popFirst() -> Item?
}

/// Work that is done by one thread at a time, in order, and with no lock held.
///
/// A caller that finds another thread at work, or is called by the work itself, leaves the rest to
/// that thread, so that no thread waits and nothing can deadlock.
final class SerialQueue<Work: PendingWork>: Sendable {
  private struct State {
    var work: Work
    var isBusy: Bool
    var hasEnded = false
  }

  private let state: Mutex<State>

  /// Makes a queue that is idle, or one that is busy until the caller calls ``runRest(_:)``.
  init(_ work: Work, isBusy: Bool = false) {
    state = Mutex(State(work: work, isBusy: isBusy))
  }

  func add(_ body: (inout Work) -> Void) {
    state.withLock { if !$0.hasEnded { body(&$0.work) } }
  }

  /// Does what waits, unless a thread is at work already.
  func run(_ perform: (Work.Item) -> Void) {
    let isFree = state.withLock { state in
      guard !state.isBusy else { return false }
      state.isBusy = true
      return true
    }
    if isFree { runRest(perform) }
  }

  /// Does what waits, as the thread at work; the queue is idle then.
  func runRest(_ perform: (Work.Item) -> Void) {
    while let item = next() { perform(item) }
  }

  /// Whether the queue takes and does no more work.
  var hasEnded: Bool { state.withLock(\.hasEnded) }

  func end() { state.withLock { $0.hasEnded = true } }

  private func next() -> Work.Item? {
    state.withLock { state in
      if !state.hasEnded, let item = state.work.popFirst() { return item }
      state.isBusy = false
      return nil
    }
  }
}
