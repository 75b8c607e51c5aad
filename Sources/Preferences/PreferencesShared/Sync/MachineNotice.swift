internal import PreferencesDurable
internal import PrephirencesEtcd
internal import PrephirencesSystem
internal import Synchronization

/// Says in the store which machine has the file, when it was last in touch, and what it cannot send.
///
/// Who may only read cannot say so. A failure is not reported: it is said again at the next contact.
final class MachineNotice: Sendable {
  private struct State {
    /// The row that was said last, and when to say it again.
    var said: (tag: WriterTag, row: MachineRow)?
    /// The row that another machine had put under that tag.
    ///
    /// If this machine takes another tag later, the file was a copy of that machine's, which gets its
    /// row back.
    var replaced: MachineRow?
    var next = ContinuousClock.now
    /// Before that, not even another row.
    var rest = ContinuousClock.now
  }

  /// How many notices this process has; many suites speak less often each.
  private static let count = Atomic(0)

  private let state = PosixMutex(State())

  init() { Self.count.add(1, ordering: .relaxed) }

  deinit { Self.count.subtract(1, ordering: .relaxed) }

  /// How long to be silent, and not at the same time as others.
  private static var silence: Duration {
    let seconds = max(300, 30 * count.load(ordering: .relaxed))
    return .seconds(seconds) * Double.random(in: 0.8...1.2)
  }

  /// When the sender must look again.
  var timeToNext: Duration {
    max(.seconds(1), ContinuousClock.now.duration(to: state.withLock(\.next)))
  }

  /// Says it at the first contact, unless the store has had the same row for less than five minutes.
  func begin(_ session: SyncSession, _ cancellation: EtcdCancellation) {
    let (said, replaced) = state.withLock { ($0.said, $0.replaced) }
    guard let (tag, row) = try? self.row(session), said?.tag != tag else { return }
    if let said, let replaced {
      put(replaced, said.tag, session, cancellation)
    }
    let key = EtcdKeys.one(session.layout.machine(tag))
    let known = try? session.client.range(
      key, deadline: Deadline(after: .seconds(5)), cancellation: cancellation)
    let old = known?.rows.first.flatMap { MachineRow($0.value) }
    state.withLock { $0.replaced = old.flatMap { $0.name == row.name ? nil : $0 } }
    if let old, old.says(row), (0..<300_000).contains(row.contact - old.contact) {
      return didSay(tag, old)
    }
    say(tag, row, session, cancellation)
  }

  /// Says it again if it is another row now, or some time has passed.
  func update(_ session: SyncSession) {
    let (said, next, rest) = state.withLock { ($0.said, $0.next, $0.rest) }
    guard let (tag, row) = try? self.row(session),
      next <= .now || said?.tag != tag || said?.row.says(row) != true
    else { return }
    guard rest <= .now else { return state.withLock { $0.next = $0.rest } }
    say(tag, row, session, session.cancellation)
  }

  private func row(_ session: SyncSession) throws -> (WriterTag, MachineRow) {
    let unsent = try session.replica.unsent().count { $0.waits }
    return (
      try session.replica.state().writer, MachineRow(name: session.options.machine, unsent: unsent)
    )
  }

  private func say(
    _ tag: WriterTag, _ row: MachineRow, _ session: SyncSession, _ cancellation: EtcdCancellation
  ) {
    didSay(tag, row)
    put(row, tag, session, cancellation)
  }

  private func put(
    _ row: MachineRow, _ tag: WriterTag, _ session: SyncSession, _ cancellation: EtcdCancellation
  ) {
    guard let bytes = try? row.bytes() else { return }
    _ = try? session.client.put(
      session.layout.machine(tag), bytes, deadline: Deadline(after: .seconds(5)),
      cancellation: cancellation)
  }

  private func didSay(_ tag: WriterTag, _ row: MachineRow) {
    state.withLock { state in
      state.said = (tag, row)
      state.next = .now + Self.silence
      state.rest = .now + .seconds(10)
    }
  }
}

extension MachineRow {
  /// Whether another row says the same, at another time.
  fileprivate func says(_ other: Self) -> Bool {
    (name, release, unsent) == (other.name, other.release, other.unsent)
  }
}
