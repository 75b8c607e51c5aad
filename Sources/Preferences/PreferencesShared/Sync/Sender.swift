internal import PreferencesDurable
internal import Prephirences
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// Brings what was changed on this machine to the engine.
struct Sender {
  let session: SyncSession

  private var signals: SyncSignals { session.signals }
  private var replica: SharedReplica { session.replica }

  /// How often the engine has refused units since the last one that it took.
  private var refusals = 0
  /// How many units were sent one after another.
  private var busy = 0
  /// Whether a unit was sent whose acknowledgement nobody was told of.
  private var hasSent = false
  private var backoff: Backoff
  private var rights: WriteRights
  private var removals: RemovalCollection

  private static let fullUnit = 50

  init(_ session: SyncSession) {
    self.session = session
    backoff = Backoff(session.options)
    rights = WriteRights(session)
    removals = RemovalCollection(session)
  }

  /// Sends until the session ends.
  mutating func run() {
    var reading = 0
    var (wakes, looks) = signals.read { ($0.wakes, $0.fileChanges) }
    try? replica.retrySetAside(nil)
    while !session.isEnding {
      signals.wait(nil) {
        $0.isEnding || $0.isStopping || $0.isInStep || $0.fileChanges != looks
      }
      let state = signals.read { $0 }
      looks = state.fileChanges
      do {
        if !state.isInStep { try replica.checkSharing() }
        if state.wakes != wakes {
          wakes = state.wakes
          try replica.retrySetAside(nil)
          rights.expire()
        }
        if state.lastReading != reading {
          reading = state.lastReading
          rights.expire()
          removals.expire()
        }
        try step(state)
      } catch {
        recover(from: error)
      }
    }
  }

  /// Sends a unit, or waits until there is one.
  private mutating func step(_ state: SyncSignals.State) throws {
    guard !session.isEnding, state.isInStep else { return }
    guard try rights.mayWrite() else {
      session.reports.report(.readOnly, of: .sender)
      return rest(state, atMost: .seconds(60)) { $0.lastReading != state.lastReading }
    }
    guard let unit = try replica.nextUnit() else {
      busy = 0
      announce()
      if session.reports.trouble(of: .sender) != nil { session.reports.contact(of: .sender) }
      try removals.collect()
      session.notice.update(session)
      return rest(state, atMost: session.notice.timeToNext) { $0.fileChanges != state.fileChanges }
    }
    try send(unit)
    busy += 1
    // Who writes on and on is left some time, and more is sent at once. What waits already, in full
    // units or in transactions, is sent without a rest.
    guard busy > 3, unit.changes.count < Self.fullUnit, !unit.isTransaction else { return }
    rest(state, atMost: .milliseconds(40)) { $0.flushes != state.flushes }
  }

  private mutating func announce() {
    guard hasSent else { return }
    hasSent = false
    session.announce()
  }

  private func rest(
    _ state: SyncSignals.State, atMost duration: Duration?,
    orUntil isMet: (SyncSignals.State) -> Bool
  ) {
    signals.wait(duration) {
      $0.isEnding || $0.isStopping || !$0.isInStep || $0.wakes != state.wakes || isMet($0)
    }
  }

  private mutating func recover(from error: any Error) {
    guard !session.isEnding, !session.endsBecause(of: error) else { return }
    if let error = error as? EtcdError, error.code == .cancelled {
      return session.pause(backoff.delay())
    }
    let trouble = Trouble(error)
    session.reports.report(trouble, of: .sender)
    if trouble.isOfThisProcess { return session.end() }
    session.pause(backoff.delay())
  }

  // MARK: - One unit

  private mutating func send(_ unit: SharedUnit) throws {
    guard let identity = session.identity else { return }
    let request = UnitTransaction(layout: session.layout, identity: identity, unit: unit)
    let answer: EtcdTransactionAnswer
    hasSent = true
    do throws(EtcdError) {
      answer = try session.client.perform(
        request.transaction, deadline: Deadline(after: .seconds(15)),
        cancellation: session.cancellation)
    } catch {
      // What may have happened is sent again, unchanged, until the answer is definite.
      guard !error.mayHaveHappened else { throw error }
      return try didFail(unit, error)
    }
    switch request.outcome(of: answer) {
    case .committed(let revision):
      try replica.acknowledge(unit, revision: revision)
      announce()
      refusals = 0
      backoff.reset()
      removals.count(unit.changes.count)
      session.reports.contact(of: .sender)
    case .changed(let revision): try didChange(unit, revision)
    case .foreign, .restored: readAnew()
    case .cloned:
      try replica.renewWriter()
      readAnew()
    case .malformed:
      throw Trouble(.protocolViolation, "the engine's answer to a transaction is not complete")
    }
  }

  /// Waits until the receiver knows who has changed a key, and then gives the unit back.
  private mutating func didChange(_ unit: SharedUnit, _ revision: Int64?) throws {
    refusals += 1
    var isKnown = false
    if let revision, refusals < 3 {
      isKnown = signals.wait(.seconds(5)) {
        $0.isEnding || $0.isStopping || !$0.isInStep || $0.received >= revision
      }
      guard signals.read({ $0.isInStep }) else { return }
    }
    if !isKnown {
      guard readAnew() else { return }
      refusals = 0
    }
    guard !session.isEnding else { return }
    try replica.reject(unit)
  }

  /// Lets the receiver read everything, and waits for it.
  ///
  /// - Returns: Whether it has done so.
  @discardableResult
  private mutating func readAnew() -> Bool {
    session.pause(backoff.delay())
    let number = session.requestReading()
    return signals.wait(.seconds(60)) { $0.isEnding || $0.isStopping || $0.lastReading >= number }
      && !session.isEnding
  }

  private mutating func didFail(_ unit: SharedUnit, _ error: EtcdError) throws {
    switch error.code {
    case .permissionDenied:
      rights.expire()
      guard try rights.mayWrite() else { return }
      let denied = try rights.denied(unit.changes.map(\.row.key))
      guard !denied.isEmpty else { throw error }
      try replica.setAside(unit, keys: denied, because: .permission, error.message)
    case .tooLarge:
      let largest = unit.changes.max { $0.row.bytes.count < $1.row.bytes.count }
      try replica.setAside(
        unit, keys: largest.map { [$0.row.key] }, because: .tooLarge, error.message)
    default: throw error
    }
  }
}

extension Trouble {
  static let readOnly = Trouble(
    .readOnly, "the user of the engine may only read this store; changes are not accepted here")
}
