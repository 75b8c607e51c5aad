internal import Prephirences
internal import PrephirencesDurable
internal import PrephirencesEtcd
internal import PrephirencesFiles

/// What the engine allows the user to change.
struct WriteRights {
  private let session: SyncSession
  private var known: (isAllowed: Bool, end: ContinuousClock.Instant)?

  init(_ session: SyncSession) { self.session = session }

  /// Lets the next call ask the engine.
  mutating func expire() { known = nil }

  /// Returns whether the user may write at all, and records it for all processes.
  mutating func mayWrite() throws -> Bool {
    if let known, known.isAllowed || ContinuousClock.now < known.end { return known.isAllowed }
    let state = try session.replica.state()
    let isAllowed = try isAllowed(session.layout.writer(state.writer))
    if state.isReadOnly == isAllowed { try session.replica.setReadOnly(!isAllowed) }
    known = (isAllowed, .now + .seconds(50))
    return isAllowed
  }

  /// Returns the keys that the user may not change.
  func denied(_ keys: [PreferenceKey]) throws -> [PreferenceKey] {
    try keys.filter { try !isAllowed(session.layout.key($0)) }
  }

  /// Asks by a transaction that is never performed: its rights are checked all the same.
  private func isAllowed(_ key: [UInt8]) throws -> Bool {
    if session.client.isWithoutAuthentication == true { return true }
    let transaction = EtcdTransaction(
      compares: [.version(.one(session.layout.identity), .less, 0)],
      success: [.put(key: key, value: [])])
    do throws(EtcdError) {
      _ = try session.client.perform(
        transaction, deadline: Deadline(after: .seconds(15)), cancellation: session.cancellation)
      return true
    } catch {
      guard error.code == .permissionDenied else { throw error }
      return false
    }
  }
}
