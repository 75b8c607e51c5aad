internal import PrephirencesSystem

/// One watch of a connection: what has arrived for it, until its thread takes it.
final class WatchSubscription: Sendable {
  enum Item {
    /// The server has accepted the watch on a connection.
    case created(EtcdHeader)
    case events(EtcdEvents)
  }

  let keys: EtcdKeys

  /// How much may wait, in bytes.
  ///
  /// With more, it is cheaper to read everything again.
  static let greatestSize = 8 << 20

  fileprivate struct State {
    var items: [Item] = []
    var size = 0
    /// The first revision that has not arrived.
    var next: Int64
    /// The beginning of a revision whose rest follows.
    var held: [EtcdEvents.Event] = []
    var hasBegun = false
    var end: EtcdError?
  }

  private let state: PosixMutex<State>
  private let arrival = Waiting()

  init(_ keys: EtcdKeys, from revision: Int64) {
    self.keys = keys
    state = PosixMutex(State(next: revision))
  }

  // MARK: - The thread that watches

  /// Waits for what arrives, and takes all of it.
  ///
  /// - Returns: Nothing at the deadline.
  /// - Throws: Why the watch has ended, after everything else was taken.
  func take(
    _ deadline: Deadline, _ cancellation: EtcdCancellation
  ) throws(EtcdError) -> [Item] {
    while true {
      // Before the lock, which a fork may have left locked.
      try ForkGuard.check()
      let (items, end) = state.withLock { state in
        defer { (state.items, state.size) = ([], 0) }
        return (state.items, state.end)
      }
      if !items.isEmpty { return items }
      if let end { throw end }
      guard try arrival.wait(deadline, cancellation) else { return [] }
    }
  }

  // MARK: - The thread of the connection

  /// Whether the server has ever accepted the watch: what it misses from then on, only its thread
  /// can know.
  var hasBegun: Bool { state.withLock { $0.hasBegun } }

  var hasEnded: Bool { state.withLock { $0.end != nil } }

  /// Returns the revision from which a new connection watches.
  func restart() -> Int64 {
    state.withLock { state in
      state.held = []
      return state.next
    }
  }

  func begin(_ header: EtcdHeader) {
    state.withLock { state in
      state.hasBegun = true
      state.items.append(.created(header))
    }
    arrival.end()
  }

  func end(_ error: EtcdError) {
    state.withLock { state in
      if state.end == nil { state.end = error }
    }
    arrival.end()
  }

  func add(_ answer: EtcdEvents, isFragment: Bool) {
    let isNew = state.withLock { state in
      guard state.end == nil, let answer = state.complete(answer, isFragment) else { return false }
      let size = answer.events.reduce(0) { $0 + $1.row.key.count + $1.row.value.count + 100 }
      if !state.items.isEmpty, state.size + size > Self.greatestSize {
        (state.items, state.size) = ([], 0)
        state.end = EtcdError(.compacted, "changes came faster than they were taken")
        return true
      }
      state.items.append(.events(answer))
      state.size += size
      return true
    }
    if isNew { arrival.end() }
  }
}

extension WatchSubscription.State {
  /// Returns the revisions that are complete with an answer.
  fileprivate mutating func complete(_ answer: EtcdEvents, _ isFragment: Bool) -> EtcdEvents? {
    guard !answer.events.isEmpty else {
      next = max(next, answer.header.revision + 1)
      return answer
    }
    var events = held + answer.events.filter { $0.row.modRevision >= next }
    held = []
    if isFragment, let last = events.last?.row.modRevision {
      let start = events.firstIndex { $0.row.modRevision == last } ?? 0
      held = Array(events[start...])
      events.removeSubrange(start...)
    }
    guard let last = events.last?.row.modRevision else { return nil }
    next = last + 1
    return EtcdEvents(header: answer.header, events: events)
  }
}
