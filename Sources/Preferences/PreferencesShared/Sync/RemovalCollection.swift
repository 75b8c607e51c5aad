internal import PreferencesDurable
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// Removes from the engine the rows of keys that were removed long ago, if there are too many.
struct RemovalCollection {
  private let session: SyncSession

  /// How many changes were sent since the last look.
  private var changes = 0
  private var isDue = true

  /// How many rows are removed at once; each is a compare and an operation.
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
      // The file forgets them when the receiver has them.
      let isKnown = session.signals.wait(.seconds(10)) {
        $0.isEnding || $0.isStopping || !$0.isInStep || $0.received >= revision
      }
      guard isKnown, session.signals.read({ $0.isInStep }) else { return }
    }
  }

  /// - Returns: The revision of the collection; `nil` if the rows were changed, or collected by
  ///   another machine.
  private func remove(
    _ rows: ArraySlice<SharedRow>, _ identity: [UInt8]
  ) throws -> Int64? {
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
    let answer: EtcdTransactionAnswer
    do throws(EtcdError) {
      answer = try session.client.perform(
        transaction, deadline: Deadline(after: .seconds(15)), cancellation: session.cancellation)
    } catch {
      // The receiver sees whether it has happened.
      guard !error.mayHaveHappened, error.code != .permissionDenied else { return nil }
      throw error
    }
    guard answer.succeeded else { return nil }
    session.floorRow = StoreRow.floor(floor)
    return answer.header.revision
  }
}
