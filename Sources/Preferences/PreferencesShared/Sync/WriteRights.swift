internal import PreferencesDurable
internal import Prephirences
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// What the engine allows the user to change.
struct WriteRights {
  private let session: SyncSession
  private var known: (isAllowed: Bool, end: ContinuousClock.Instant)?

  init(_ session: SyncSession) { self.session = session }

  /// Lets the next call ask the engine.
  mutating func expire() { known = nil }

  /// Returns whether the user may write at all, and records it for all processes.
  ///
  /// - Throws: ``Trouble`` if the user may not read either, which is not the same: changes wait then.
  mutating func mayWrite() throws -> Bool {
    if let known, known.isAllowed || ContinuousClock.now < known.end { return known.isAllowed }
    let state = try session.replica.state()
    let isAllowed = try isAllowed(session.layout.writer(state.writer))
    if !isAllowed { try checkReading() }
    if state.isReadOnly == isAllowed { try session.replica.setReadOnly(!isAllowed) }
    known = (isAllowed, .now + .seconds(50))
    return isAllowed
  }

  private func checkReading() throws {
    do throws(EtcdError) {
      _ = try session.client.range(
        .one(session.layout.identity), deadline: Deadline(after: .seconds(15)),
        cancellation: session.cancellation)
    } catch {
      guard error.code == .permissionDenied else { throw error }
      throw session.trouble(error)
    }
  }

  /// Returns the keys that the user may not change.
  func denied(_ keys: [PreferenceKey]) throws -> [PreferenceKey] {
    try keys.filter { try !isAllowed(session.layout.key($0)) }
  }

  private func isAllowed(_ key: [UInt8]) throws -> Bool {
    session.signals.advance()
    do throws(EtcdError) {
      try session.client.requireRights(
        toPut: [key], session.layout, deadline: Deadline(after: .seconds(15)),
        cancellation: session.cancellation)
      return true
    } catch {
      guard error.code == .permissionDenied else { throw error }
      return false
    }
  }
}

extension EtcdClient {
  /// Fails if the user may not change keys.
  ///
  /// It asks by a transaction that is never performed: its rights are checked all the same.
  func requireRights(
    toPut keys: [[UInt8]], _ layout: StoreLayout, deadline: Deadline,
    cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) {
    if isWithoutAuthentication == true { return }
    let transaction = EtcdTransaction(
      compares: [.version(.one(layout.identity), .less, 0)],
      success: keys.map { .put(key: $0, value: []) })
    _ = try perform(transaction, deadline: deadline, cancellation: cancellation)
  }
}
