internal import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesEtcd
internal import PrephirencesSystem
internal import SystemPackage

/// Asks the program's closure to decide conflicts.
struct ConflictResolver {
  let core: SyncCore
  let resolver: SyncWorker.Resolver

  /// When to ask again about an undecided conflict.
  private struct Retry {
    var backoff = Backoff(from: .seconds(1), to: .seconds(60))
    var time = ContinuousClock.now
  }

  private var signals: SyncSignals { core.signals }

  func run() {
    var retries: [[UInt8]: Retry] = [:]
    var wakes = 0
    while case let state = signals.read({ $0 }), !state.isStopping {
      if state.wakes != wakes { retries = [:] }
      wakes = state.wakes
      let conflicts = (try? core.replica.conflicts()) ?? []
      let tokens = Set(conflicts.map(\.token))
      retries = retries.filter { tokens.contains($0.key) }
      for conflict in conflicts {
        var retry = retries[conflict.token] ?? Retry()
        guard retry.time <= .now else { continue }
        guard !signals.read({ $0.isStopping }) else { return }
        guard !decide(conflict) else { continue }
        retry.time = .now + retry.backoff.delay()
        retries[conflict.token] = retry
      }
      // Ask again about undecided conflicts, but only after a pause.
      let next = retries.values.map(\.time).min()
      signals.wait(next.map { ContinuousClock.now.duration(to: $0) }) { now in
        now.isStopping || now.wakes != wakes || now.fileChanges != state.fileChanges
      }
    }
  }

  /// Returns whether the conflict is decided; if not, the file records why, if possible.
  private func decide(_ conflict: ReplicaConflict) -> Bool {
    let decision: ReplicaDecision
    // The closure may take long, so this thread is not hung.
    signals.rest()
    defer { signals.advance() }
    do {
      decision = try resolver(conflict)
    } catch {
      return postpone(conflict, Self.reason(error))
    }
    do throws(PreferencesError) {
      // If something has changed since, the conflict is listed again, with another token.
      _ = try core.replica.resolve(conflict, decision)
      return true
    } catch {
      return postpone(conflict, "what the closure decided cannot be set: \(error.message)")
    }
  }

  private func postpone(_ conflict: ReplicaConflict, _ message: String) -> Bool {
    if conflict.message != message { try? core.replica.postpone(conflict, message) }
    return false
  }

  private static func reason(_ error: any Error) -> String {
    if let error = error as? any PreferencesErrorConvertible {
      return error.preferencesError.message
    }
    return "the closure that decides threw an error of type \(type(of: error))"
  }
}

/// Which keys the server lets the user change.
struct WriteRights {
  private let session: SyncSession
  private var known: (isAllowed: Bool, end: ContinuousClock.Instant)?

  init(_ session: SyncSession) { self.session = session }

  /// Lets the next call ask the server.
  mutating func expire() { known = nil }

  /// Returns whether the user may write at all, and records it for all processes.
  mutating func mayWrite() throws -> Bool {
    if let known, known.isAllowed || ContinuousClock.now < known.end { return known.isAllowed }
    let state = try session.replica.state()
    let row = session.layout.writer(state.writer)
    var isAllowed = try isAllowed(row)
    if !isAllowed {
      try checkReading()
      // The role may have been granted between the two calls.
      isAllowed = try self.isAllowed(row)
    }
    if state.isReadOnly == isAllowed { try session.replica.setReadOnly(!isAllowed) }
    known = (isAllowed, .now + .seconds(50))
    return isAllowed
  }

  private func checkReading() throws {
    do {
      _ = try session.client.range(
        .one(session.layout.identity), deadline: Deadline(after: .seconds(15)),
        cancellation: session.cancellation)
    } catch let error as EtcdError where error.code == .permissionDenied {
      throw session.problem(error)
    }
  }

  /// Returns the keys that the user may not change.
  func denied(_ keys: [PreferenceKey]) throws -> [PreferenceKey] {
    try keys.filter { try !isAllowed(session.layout.key($0)) }
  }

  private func isAllowed(_ key: [UInt8]) throws -> Bool {
    session.signals.advance()
    do {
      try session.client.requireRights(
        toPut: [key], session.layout, deadline: Deadline(after: .seconds(15)),
        cancellation: session.cancellation)
      return true
    } catch let error as EtcdError where error.code == .permissionDenied {
      return false
    }
  }
}

extension EtcdClient {
  /// Fails if the user may not change the keys.
  ///
  /// It sends a transaction whose compares cannot hold: etcd checks its rights all the same.
  func requireRights(
    toPut keys: [[UInt8]], _ layout: StoreLayout, deadline: Deadline,
    cancellation: EtcdCancellation? = nil
  ) throws {
    if isWithoutAuthentication == true { return }
    let transaction = EtcdTransaction(
      compares: [.version(.one(layout.identity), .less, 0)],
      success: keys.map { .put(key: $0, value: []) })
    _ = try perform(transaction, deadline: deadline, cancellation: cancellation)
  }

  /// Gives the store an identity unless another machine does so first; read the store to see which.
  func createIdentity(
    of layout: StoreLayout, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws {
    let transaction = EtcdTransaction(
      compares: [.absent(layout.identity)],
      success: [.put(key: layout.identity, value: StoreRow.newIdentity())])
    do {
      _ = try perform(transaction, deadline: deadline, cancellation: cancellation)
    } catch let error as EtcdError where error.mayHaveHappened && !deadline.hasPassed {}
  }
}

/// Removes the rows of long-removed keys from the server, if there are too many.
struct RemovalCollection {
  private let session: SyncSession

  /// How many changes were sent since the last collection.
  private var changes = 0
  private var isDue = true

  /// How many rows are removed at once: each needs one compare and one operation.
  private static let pieceCount = 100

  init(_ session: SyncSession) { self.session = session }

  mutating func expire() { isDue = true }

  mutating func count(_ changes: Int) { self.changes += changes }

  mutating func collect() throws {
    guard isDue || changes >= max(1, session.options.greatestRemovals / 100) else { return }
    isDue = false
    changes = 0
    while !session.isEnding, let identity = session.identity {
      let found = try session.replica.removalsToCollect(above: session.options.greatestRemovals)
      guard let found, let revision = try remove(found.rows.prefix(Self.pieceCount), identity)
      else { return }
      // The file forgets them once the receiver has them.
      let isKnown = session.signals.wait(.seconds(10)) {
        $0.isOver || !$0.isInStep || $0.received >= revision
      }
      guard isKnown, session.signals.read({ $0.isInStep }) else { return }
    }
  }

  /// Returns the revision of the collection, or `nil` if the rows have changed or another machine
  /// has collected them.
  private func remove(_ rows: ArraySlice<SharedRow>, _ identity: [UInt8]) throws -> Int64? {
    let layout = session.layout
    let known = session.floorRow
    let greatest = rows.map(\.revision).max() ?? 0
    let floor = max(greatest, known.flatMap { StoreRow.floor($0) } ?? 0)
    let transaction = EtcdTransaction(
      compares: [
        .value(.one(layout.identity), .equal, identity),
        known.map { .value(.one(layout.floor), .equal, $0) } ?? .absent(layout.floor),
      ] + rows.map { .value(.one(layout.key($0.key)), .equal, $0.bytes) },
      success: [.put(key: layout.floor, value: StoreRow.floor(floor))]
        + rows.map { .delete(.one(layout.key($0.key))) })
    do {
      let answer = try session.client.perform(
        transaction, deadline: Deadline(after: .seconds(15)), cancellation: session.cancellation)
      guard answer.succeeded else { return nil }
      session.floorRow = StoreRow.floor(floor)
      return answer.header.revision
    } catch let error as EtcdError where error.mayHaveHappened || error.code == .permissionDenied {
      // The receiver sees whether the removal has happened.
      return nil
    }
  }
}

extension SharedReplica {
  /// Returns the same file with its own connection, as another process would have.
  ///
  /// Reads on the first connection don't wait for it.
  func onOwnConnection() throws(PreferencesError) -> SharedReplica {
    // Connections with the same timeout are shared, so this timeout is unusual.
    let other = DurablePreferences(
      suiteName: preferences.suiteName,
      folder: FilePath(try filePath()).removingLastComponent().string,
      timeout: .milliseconds(10_500))
    return SharedReplica(other, during: sharing)
  }
}
