internal import PreferencesDurable
internal import Prephirences
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// Everything that the engine has of a store, at one revision.
struct StoreContents {
  private(set) var revision: Int64 = 0
  private(set) var identity: [UInt8]?
  private(set) var floorRow: [UInt8]?
  private var writers: [WriterTag: [UInt8]] = [:]
  private var rows: [SharedRow] = []

  /// - Throws: `EtcdError`, or ``Trouble`` if the identity is damaged, or has a newer form.
  init(_ session: SyncSession, _ cancellation: EtcdCancellation) throws {
    let layout = session.layout
    let header = try session.client.snapshot(
      layout.all, deadline: Deadline(after: .seconds(120)), cancellation: cancellation
    ) { page in
      for row in page { add(row, layout) }
    }
    revision = header.revision
    if let identity, !StoreRow.isIdentity(identity) {
      throw identity.first == StoreRow.form
        ? Trouble(.damaged, "the identity of the engine's store is damaged") : .newerStore
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

  /// Whether nobody has used the store.
  var isEmpty: Bool { writers.isEmpty && rows.isEmpty && floorRow == nil }

  var rowCount: Int { rows.count }

  func snapshot() throws -> SharedSnapshot {
    var floor: Int64 = 0
    if let floorRow {
      // Without it, a value that is absent could be taken for one that was never sent.
      guard let number = StoreRow.floor(floorRow) else { throw Trouble.newerStore }
      floor = number
    }
    return SharedSnapshot(
      revision: revision, identity: identity, floor: floor, writers: writers, rows: rows)
  }
}

extension Trouble {
  static let newerStore = Trouble(
    .newerForm, "a newer release has written the engine's store; install that release here")
}
