internal import PrephirencesSystem

/// A watch, on the thread that has asked for it.
struct Watch {
  private let caller: Caller
  private let hub: WatchHub
  private let subscription: WatchSubscription
  private let cancellation: EtcdCancellation
  /// The first revision that was not delivered.
  private var next: Int64
  /// A change that a check found, and the time by which it should be delivered.
  private var missed: (revision: Int64, deadline: Deadline)?

  init(
    _ caller: Caller, _ hub: WatchHub, _ keys: EtcdKeys, from revision: Int64,
    _ cancellation: EtcdCancellation
  ) {
    self.caller = caller
    self.hub = hub
    self.cancellation = cancellation
    subscription = WatchSubscription(keys, from: revision)
    next = revision
  }

  private var timing: EtcdConfiguration.Timing { caller.configuration.timing }
  private var patience: Deadline { Deadline(after: timing.silence) }

  /// Watches until it fails.
  mutating func run(
    _ began: (EtcdHeader) throws -> Void, _ handler: (EtcdEvents) throws -> Void
  ) throws -> Never {
    // Before any lock, which a fork may have left locked.
    try ForkGuard.check()
    try hub.add(subscription)
    defer { if !ForkGuard.isForked { hub.remove(subscription) } }
    var hasBegun = false
    while true {
      let items = try arrived()
      for item in items {
        try (cancellation as EtcdCancellation?).check()
        switch item {
        case .created(let header):
          missed = nil
          try accept(header)
          if !hasBegun { try began(header) }
          hasBegun = true
        case .events(let answer):
          next = max(next, (answer.events.last?.row.modRevision ?? answer.header.revision) + 1)
          try handler(answer)
        }
      }
      // The thread of the connection says if it does not begin.
      guard items.isEmpty, hasBegun else { continue }
      try check()
      if missed == nil {
        try handler(EtcdEvents(header: EtcdHeader(revision: next - 1), events: []))
      }
    }
  }

  private func arrived() throws(EtcdError) -> [WatchSubscription.Item] {
    do throws(EtcdError) {
      return try subscription.take(Deadline(after: timing.checking), cancellation)
    } catch {
      guard error.code == .permissionDenied else { throw error }
      // etcd 3.5 says the same of a token that it has forgotten; a call gets another one.
      _ = try asking { () throws(EtcdError) in
        try caller.look(subscription.keys, patience, cancellation)
      }
      throw EtcdError(.unreachable, "etcd ended the watch")
    }
  }

  /// Refuses a watch that begins in the future.
  ///
  /// It would leave out revisions that a restored cluster issues again. A member that is behind the
  /// others only looks like that.
  private func accept(_ header: EtcdHeader) throws(EtcdError) {
    guard header.revision < next - 1 else { return }
    let revision = try asking { () throws(EtcdError) in
      try caller.look(subscription.keys, patience, cancellation)
    }
    guard revision < next - 1 else { return }
    throw EtcdError(
      .compacted, "the cluster is behind the revision to watch from; it was restored, perhaps")
  }

  /// Checks a silent watch.
  ///
  /// One whose role was taken away, or whose connection swallows changes, only goes silent. With a new
  /// token, the connection is renewed.
  private mutating func check() throws(EtcdError) {
    if let missed, missed.revision >= next, missed.deadline.hasPassed {
      caller.skipEndpoint()
      throw EtcdError(.unreachable, "etcd has changes that the watch does not deliver")
    }
    let change = try asking { () throws(EtcdError) in
      try caller.change(of: subscription.keys, from: next, patience, cancellation)
    }
    if missed.map({ $0.revision < next }) ?? true { missed = change.map { ($0, patience) } }
    do throws(Refusal) {
      hub.renew(with: try caller.token(patience, cancellation))
    } catch { throw error.error }
  }

  private func asking<Result>(
    _ body: () throws(EtcdError) -> Result
  ) throws(EtcdError) -> Result {
    do throws(EtcdError) { return try body() } catch {
      // A watch has no deadline: what does not answer in time isn't there.
      throw error.code == .timedOut ? EtcdError(.unreachable, error.message) : error
    }
  }
}
