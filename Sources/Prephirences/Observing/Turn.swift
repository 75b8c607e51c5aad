internal import Synchronization

/// What waits to be done.
protocol PendingWork: Sendable {
  associatedtype Item
  mutating func popFirst() -> Item?
}

/// Work that is done by one thread at a time, in order, and with no lock held.
///
/// Who finds another thread at work, or is called by the work itself, leaves the rest to that
/// thread, so that nobody waits and nothing can deadlock.
final class Turn<Work: PendingWork>: Sendable {
  private struct State {
    var work: Work
    var isBusy: Bool
    var hasEnded = false
  }

  private let state: Mutex<State>

  /// Makes a turn that nobody has taken, or one that the caller has.
  init(_ work: Work, isBusy: Bool = false) {
    state = Mutex(State(work: work, isBusy: isBusy))
  }

  func add(_ body: (inout Work) -> Void) {
    state.withLock { if !$0.hasEnded { body(&$0.work) } }
  }

  /// Takes the turn if it is free, and does what waits.
  func take(_ perform: (Work.Item) -> Void) {
    let isFree = state.withLock { state in
      guard !state.isBusy else { return false }
      state.isBusy = true
      return true
    }
    if isFree { finish(perform) }
  }

  /// Does what waits, as the holder of the turn, and gives the turn back.
  func finish(_ perform: (Work.Item) -> Void) {
    while let item = next() { perform(item) }
  }

  /// Whether the holder of the turn is to go on.
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
