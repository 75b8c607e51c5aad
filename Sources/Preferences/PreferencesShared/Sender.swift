internal import FoundationEssentials
internal import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// Sends this machine's changes to the server.
struct Sender {
  let session: SyncSession

  private var signals: SyncSignals { session.signals }
  private var replica: SharedReplica { session.replica }

  /// How many batches the server has refused since it last accepted one.
  private var refusals = 0
  /// How many batches were sent without a pause.
  private var busy = 0
  /// Whether a batch was sent and its acknowledgement not announced yet.
  private var hasSent = false
  private var backoff: Backoff
  private var rights: WriteRights
  private var removals: RemovalCollection

  private static let fullBatch = 50

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
        $0.isOver || $0.isInStep || $0.fileChanges != looks
      }
      let state = signals.read { $0 }
      looks = state.fileChanges
      do {
        if !state.isInStep { try replica.checkEpoch() }
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

  /// Sends a batch, or waits until there is one.
  private mutating func step(_ state: SyncSignals.State) throws {
    guard !session.isEnding, state.isInStep else { return }
    guard try rights.mayWrite() else {
      session.reports.report(.readOnly, of: .sender)
      return rest(state, atMost: .seconds(60)) { $0.lastReading != state.lastReading }
    }
    guard let batch = try replica.nextBatch() else {
      busy = 0
      announce()
      if session.reports.problem(of: .sender) != nil { session.reports.contact(of: .sender) }
      try removals.collect()
      session.notice.update(session)
      return rest(state, atMost: session.notice.timeToNext) { $0.fileChanges != state.fileChanges }
    }
    try send(batch)
    busy += 1
    // Pause under sustained writes, so that the next batch collects more. Full batches and
    // transactions are sent without a pause.
    guard busy > 3, batch.changes.count < Self.fullBatch, !batch.isTransaction else { return }
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
      $0.isOver || !$0.isInStep || $0.wakes != state.wakes || isMet($0)
    }
  }

  private mutating func recover(from error: any Error) {
    guard !session.isEnding, !session.endsBecause(of: error) else { return }
    if let error = error as? EtcdError, error.code == .cancelled {
      return session.pause(backoff.delay())
    }
    let problem = SyncProblem(error)
    session.reports.report(problem, of: .sender)
    if problem.isOfThisProcess { return session.end() }
    session.pause(backoff.delay())
  }

  // MARK: - One batch

  private mutating func send(_ batch: SharedBatch) throws {
    guard let identity = session.identity else { return }
    let request = BatchTransaction(layout: session.layout, identity: identity, batch: batch)
    let answer: EtcdTransactionAnswer
    hasSent = true
    do {
      answer = try session.client.perform(
        request.transaction, deadline: Deadline(after: .seconds(15)),
        cancellation: session.cancellation)
    } catch let error as EtcdError where !error.mayHaveHappened {
      // Send an unchanged batch again until the answer is definite.
      return try didFail(batch, error)
    }
    switch request.outcome(of: answer) {
    case .committed(let revision):
      try replica.acknowledge(batch, revision: revision)
      announce()
      refusals = 0
      backoff.reset()
      removals.count(batch.changes.count)
      session.reports.contact(of: .sender)
    case .changed(let revision): try didChange(batch, revision)
    case .foreign, .restored: reread()
    case .cloned:
      try replica.renewWriter()
      reread()
    case .malformed:
      throw SyncProblem(.protocolViolation, "the engine's answer to a transaction is not complete")
    }
  }

  /// Waits until the receiver has the row that was changed, and then returns the batch to the
  /// outbox.
  private mutating func didChange(_ batch: SharedBatch, _ revision: Int64?) throws {
    refusals += 1
    var isKnown = false
    if let revision, refusals < 3 {
      isKnown = signals.wait(.seconds(5)) {
        $0.isOver || !$0.isInStep || $0.received >= revision
      }
      guard signals.read({ $0.isInStep }) else { return }
    }
    if !isKnown {
      guard reread() else { return }
      refusals = 0
    }
    guard !session.isEnding else { return }
    try replica.reject(batch)
  }

  /// Makes the receiver read everything, and waits for it.
  @discardableResult
  private mutating func reread() -> Bool {
    session.pause(backoff.delay())
    let number = session.requestReading()
    return signals.wait(.seconds(60)) { $0.isOver || $0.lastReading >= number }
      && !session.isEnding
  }

  private mutating func didFail(_ batch: SharedBatch, _ error: EtcdError) throws {
    switch error.code {
    case .permissionDenied:
      rights.expire()
      guard try rights.mayWrite() else { return }
      let denied = try rights.denied(batch.changes.map(\.row.key))
      guard !denied.isEmpty else { throw error }
      try replica.setAside(batch, keys: denied, because: .permission, error.message)
    case .tooLarge:
      let largest = batch.changes.max { $0.row.bytes.count < $1.row.bytes.count }
      try replica.setAside(
        batch, keys: largest.map { [$0.row.key] }, because: .tooLarge, error.message)
    default: throw error
    }
  }
}

extension SyncProblem {
  static let readOnly = SyncProblem(
    .readOnly, "the user of the engine may only read this store; changes are not accepted here")
}

/// Waits until the server has this machine's changes.
struct Flush {
  let core: SyncCore

  /// Whether to fail at once if only a person can end the server's refusal.
  var endsWhenRefused = false

  func perform(_ deadline: Deadline) throws {
    let replica = core.replica
    let refusal = RefusalCheck(replica)
    let lastEntry = try replica.lastFeedEntry()
    let mark = try replica.outboxMark()
    var unsent = try replica.unsent(upTo: mark)
    guard !unsent.keys.isEmpty else { return }
    let keys = unsent.keys
    let path = try replica.filePath()
    // Without notifications, poll.
    let watch = try? FileWatch(
      withSuffixes: ["-lock", SenderLock.suffix], noticesEachWrite: true
    ) { path }
    defer { watch?.close() }
    if !core.isForked { core.signals.change { $0.flushes += 1 } }
    // A sender that waits for its next attempt tries at once.
    if try replica.state().report?.code != nil { core.wake() }
    while true {
      unsent = try replica.unsent(upTo: mark)
      guard !unsent.keys.isEmpty else { return try checkLosses(keys, after: lastEntry) }
      if unsent.areWaiting {
        let (present, conflicts) = try replica.unsentWithConflicts(upTo: mark)
        // A closure may have decided meanwhile, or may be about to, in any process.
        guard present.areWaiting else { continue }
        guard conflicts.contains(where: { $0.message == nil }), !deadline.hasPassed else {
          throw try waiting(present)
        }
      }
      guard !deadline.hasPassed else { throw timedOut(unsent) }
      if endsWhenRefused { try checkRefusal(refusal) }
      if let watch {
        // A notification can be lost; the deadline must be kept.
        _ = watch.wait(min(deadline.milliseconds, 1000))
      } else {
        Deadline.pause(upTo: 50)
      }
    }
  }

  private func checkRefusal(_ refusal: RefusalCheck) throws {
    do {
      try refusal.check(isUnsent: true)
    } catch {
      throw PreferencesError(
        error.code, "\(error.message); unsent changes stay on this machine")
    }
  }

  private func checkLosses(_ keys: [PreferenceKey], after entry: Int64) throws {
    let lost = Set(try core.replica.losses(after: entry).map { Array($0.key.utf8) })
    var given: [PreferenceKey] = []
    for key in keys where lost.contains(Array(key.utf8)) && !given.contains(key) {
      given.append(key)
    }
    guard !given.isEmpty else { return }
    throw PreferencesError(
      .conflict,
      "\(Self.names(given)) changed on another machine first, and what was set here was given "
        + "up; read what is there now, and set it again if it must be another value")
  }

  private func timedOut(_ unsent: UnsentChanges) -> PreferencesError {
    let report = (try? core.replica.state())?.report
    let reason =
      PreferencesError.stoppedSender(of: core.replica).map { "; \($0.message)" }
      ?? report?.message.map { "; the last failure: \($0)" } ?? ""
    let isOne = unsent.keys.count == 1
    let outcome =
      unsent.mayHaveHappened
      ? "\(isOne ? "it" : "some") may have reached etcd nevertheless"
      : "\(isOne ? "it has not" : "none has") reached etcd"
    return PreferencesError(
      unsent.mayHaveHappened ? .outcomeUnknown : .timedOut,
      "\(Self.names(unsent.keys)) not sent in time; \(outcome), and what was not is sent later"
        + reason)
  }

  /// Why all unsent changes wait: the server has refused them, or a conflict is undecided.
  private func waiting(_ unsent: UnsentChanges) throws -> PreferencesError {
    let keys = Set(unsent.keys.map { Array($0.utf8) })
    let refused = SharedPreferences.Waiting.all(try core.replica.state(), []).first { waiting in
      waiting.keys.contains { keys.contains(Array($0.utf8)) }
    }
    if let refused { return PreferencesError(refused) }
    return PreferencesError(
      .conflict,
      "\(Self.names(unsent.keys)) not sent, because "
        + (unsent.keys.count == 1 ? "it waits for a decision" : "they wait for a decision"))
  }

  private static func names(_ keys: [PreferenceKey]) -> String {
    let names = keys.prefix(5).map { "'\($0)'" }.joined(separator: ", ")
    let more = keys.count > 5 ? " and \(keys.count - 5) more" : ""
    return keys.count == 1 ? "the key \(names) was" : "the keys \(names)\(more) were"
  }
}

/// Delays between attempts: growing, and random so that machines don't retry together.
struct Backoff {
  private let least: Duration
  private let greatest: Duration
  private var next: Duration

  init(from least: Duration, to greatest: Duration) {
    self.least = least
    self.greatest = greatest
    next = least
  }

  init(_ options: SyncOptions) {
    self.init(from: options.leastBackoff, to: options.greatestBackoff)
  }

  mutating func delay() -> Duration {
    defer { next = min(next * 2, greatest) }
    return next * Double.random(in: 0.5...1)
  }

  mutating func reset() { next = least }
}
