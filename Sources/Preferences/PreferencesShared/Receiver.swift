package import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesEtcd
package import PrephirencesSystem

/// Copies what the server has into the file.
struct Receiver {
  /// Ends a watch whose events cannot be applied to the file's rows.
  private struct MustReread: Error {}

  let session: SyncSession

  private var signals: SyncSignals { session.signals }
  private var replica: SharedReplica { session.replica }

  /// Receives until the session ends.
  func run() {
    var backoff = Backoff(session.options)
    while !session.isEnding {
      do {
        let connection = session.beginConnection()
        let revision = try readEverything(connection)
        session.reports.contact(of: .receiver)
        try watch(from: revision + 1, connection) { backoff.reset() }
      } catch {
        signals.change { $0.isInStep = false }
        guard !session.isEnding, !session.endsBecause(of: error) else { return }
        recover(from: error, &backoff)
      }
    }
  }

  private func recover(from error: any Error, _ backoff: inout Backoff) {
    if error is MustReread { return session.pause(backoff.delay()) }
    if let error = error as? EtcdError, error.code == .cancelled || error.code == .compacted {
      // Somebody wants everything to be read again.
      return session.pause(backoff.delay())
    }
    let problem = session.problem(error)
    session.reports.report(problem, of: .receiver)
    if problem.isOfThisProcess { return session.end() }
    if problem.code == .foreignStore || problem.code == .newerForm {
      // Wait until a person decides, in any process.
      return awaitAdoption()
    }
    session.pause(backoff.delay())
  }

  private func awaitAdoption() {
    let known = try? replica.state().identity
    let wakes = signals.read { $0.wakes }
    let end = ContinuousClock.now + session.options.greatestBackoff
    while !session.isEnding, signals.read({ $0.wakes }) == wakes, ContinuousClock.now < end {
      let changes = signals.read { $0.fileChanges }
      guard (try? replica.state().identity) == known else { return }
      signals.wait(ContinuousClock.now.duration(to: end)) {
        $0.isOver || $0.wakes != wakes || $0.fileChanges != changes
      }
    }
  }

  // MARK: - Everything

  /// Compares the file with everything on the server.
  private func readEverything(_ connection: EtcdCancellation) throws -> Int64 {
    var beginsLife = true
    for _ in 0..<5 {
      signals.advance()
      let reading = signals.read { $0.readings }
      let known = try replica.state()
      let contents = try StoreContents(session, connection)
      guard let identity = contents.identity else {
        try createIdentity(contents, connection)
        continue
      }
      // Before the file is in step: a short-lived process ends then.
      if StoreIdentity.isSame(known.identity ?? identity, identity) {
        session.notice.begin(session, connection)
      }
      let isLarge = contents.rowCount > session.options.greatestRowsTogether
      let file = isLarge ? try replica.onOwnConnection() : replica
      switch try file.apply(try contents.snapshot(), since: known, beginsLife: beginsLife) {
      case .outdated: continue
      case .restored(let next): beginsLife = try beginLife(identity, next, connection)
      case .foreign: throw SyncProblem.foreign
      case .cloned:
        try replica.renewWriter()
        continue
      case .applied:
        session.isConnected(identity: identity, floorRow: contents.floorRow)
        signals.change { state in
          state.received = contents.revision
          state.lastReading = reading
          state.isInStep = state.readings == reading
        }
        return contents.revision
      }
    }
    throw MustReread()
  }

  /// Gives a new store an identity.
  private func createIdentity(_ contents: StoreContents, _ connection: EtcdCancellation) throws {
    guard try replica.state().identity == nil, contents.isEmpty else { throw SyncProblem.foreign }
    try session.client.createIdentity(
      of: session.layout, deadline: Deadline(after: .seconds(15)), cancellation: connection)
  }

  /// Begins a new life of a restored server, unless another machine does so first.
  ///
  /// Returns false if the user may not write: then another machine must do it.
  private func beginLife(
    _ identity: [UInt8], _ next: [UInt8], _ connection: EtcdCancellation
  ) throws -> Bool {
    let row = session.layout.identity
    let transaction = EtcdTransaction(
      compares: [.value(.one(row), .equal, identity)], success: [.put(key: row, value: next)])
    do {
      _ = try session.client.perform(
        transaction, deadline: Deadline(after: .seconds(15)), cancellation: connection)
      return true
    } catch let error as EtcdError where error.mayHaveHappened {
      return true
    } catch let error as EtcdError where error.code == .permissionDenied {
      return false
    }
  }

  // MARK: - Watching

  private func watch(
    from revision: Int64, _ connection: EtcdCancellation, _ didReceive: () -> Void
  ) throws {
    let layout = session.layout
    signals.advance()
    try session.client.watch(layout.all, from: revision, cancellation: connection) { _ in
      signals.advance()
      didReceive()
    } handler: { answer in
      signals.advance()
      try apply(answer, layout)
      didReceive()
    }
  }

  private func apply(_ answer: EtcdEvents, _ layout: StoreLayout) throws {
    var revisions: [SharedRevision] = []
    for event in answer.events {
      let revision = event.row.modRevision
      if revisions.last?.revision != revision {
        revisions.append(SharedRevision(revision: revision, changes: []))
      }
      guard let change = try change(event, layout) else { continue }
      revisions[revisions.count - 1].changes.append(change)
    }
    if revisions.isEmpty {
      revisions.append(SharedRevision(revision: answer.header.revision, changes: []))
    }
    guard let last = revisions.last?.revision else { return }
    switch try replica.apply(revisions) {
    case .applied: break
    case .cloned:
      try replica.renewWriter()
      throw MustReread()
    case .foreign, .outdated, .restored: throw MustReread()
    }
    signals.change { $0.received = max($0.received, last) }
    session.reports.contact(of: .receiver)
  }

  private func change(
    _ event: EtcdEvents.Event, _ layout: StoreLayout
  ) throws -> SharedRevision.Change? {
    let row = event.row
    switch layout.name(of: row.key) {
    case .identity:
      guard !event.isRemoval, row.value == session.identity else { throw MustReread() }
      return nil
    case .floor:
      guard !event.isRemoval, let floor = StoreRow.floor(row.value) else { throw MustReread() }
      session.floorRow = row.value
      return .floor(floor)
    case .writer(let tag): return .writer(tag, event.isRemoval ? nil : row.value)
    case .key(let key):
      guard !event.isRemoval else { return .removed(key) }
      return .row(SharedRow(key: key, revision: row.modRevision, bytes: row.value))
    case .machine, .unknown: return nil
    }
  }
}

extension SyncProblem {
  static let foreign = SyncProblem(
    .foreignStore,
    "the engine's store is not the one that this machine was in step with: "
      + "its identity is missing or another; adopt it if that is meant")
}

extension SyncWorker {
  /// Adopts the identity of the store that is on the server now, or gives it a new one.
  ///
  /// Any process can call this, also while another one sends.
  package func adopt(_ deadline: Deadline) throws(PreferencesError) {
    try reporting {
      while true {
        if let identity = try readIdentity(deadline) {
          let known = try core.replica.state().identity
          guard known.map({ !StoreIdentity.isSame($0, identity) }) ?? true else { return }
          try core.replica.adopt(identity: identity)
          // The sending process waits for this.
          return SenderLock.requestRetry(besides: try core.replica.filePath())
        }
        try core.client.createIdentity(of: core.layout, deadline: deadline)
      }
    }
  }

  private func readIdentity(_ deadline: Deadline) throws -> [UInt8]? {
    let answer = try core.client.range(.one(core.layout.identity), deadline: deadline)
    guard let row = answer.rows.first else { return nil }
    guard StoreIdentity.isIdentity(row.value) else {
      throw PreferencesError(
        .unsupportedFormat,
        "the identity of the engine's store is damaged, or was written by a newer release")
    }
    return row.value
  }
}

/// Everything that the server has of a store, at one revision.
struct StoreContents {
  private(set) var revision: Int64 = 0
  private(set) var identity: [UInt8]?
  private(set) var floorRow: [UInt8]?
  private var writers: [WriterTag: [UInt8]] = [:]
  private var rows: [SharedRow] = []

  init(_ session: SyncSession, _ cancellation: EtcdCancellation) throws {
    let layout = session.layout
    let header = try session.client.snapshot(
      layout.all, deadline: Deadline(after: .seconds(120)), cancellation: cancellation
    ) { page in
      for row in page { add(row, layout) }
    }
    revision = header.revision
    if let identity, !StoreIdentity.isIdentity(identity) {
      throw identity.first == StoreRow.form
        ? SyncProblem(.damaged, "the identity of the engine's store is damaged") : .newerStore
    }
  }

  private mutating func add(_ row: EtcdRow, _ layout: StoreLayout) {
    switch layout.name(of: row.key) {
    case .identity: identity = row.value
    case .floor: floorRow = row.value
    case .writer(let tag): writers[tag] = row.value
    case .key(let key):
      rows.append(SharedRow(key: key, revision: row.modRevision, bytes: row.value))
    case .machine, .unknown: break
    }
  }

  /// Whether the store is unused.
  var isEmpty: Bool { writers.isEmpty && rows.isEmpty && floorRow == nil }

  var rowCount: Int { rows.count }

  func snapshot() throws -> SharedSnapshot {
    var floor: Int64 = 0
    if let floorRow {
      // Without the row `floor`, an absent value could be mistaken for one that was never sent.
      guard let number = StoreRow.floor(floorRow) else { throw SyncProblem.newerStore }
      floor = number
    }
    return SharedSnapshot(
      revision: revision, identity: identity, floor: floor, writers: writers, rows: rows)
  }
}

extension SyncProblem {
  static let newerStore = SyncProblem(
    .newerForm, "a newer release has written the engine's store; install that release here")
}
