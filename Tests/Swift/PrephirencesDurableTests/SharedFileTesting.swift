import Prephirences
import PrephirencesDurable
import Testing

/// A test of a file that is shared with an engine, whose part the test has.
protocol SharedFileTesting {
  var replica: SharedReplica { get }
}

extension SharedFileTesting {
  static var identity: [UInt8] { [UInt8](repeating: 1, count: 17) }

  /// The writer of another machine.
  static var other: WriterTag { WriterTag([UInt8](repeating: 9, count: 16)) }

  /// Shares the file, which is then in step with an empty store.
  func connect(
    programDecides: Bool = false, _ change: (inout SharingSettings) -> Void = { _ in }
  ) throws {
    var settings = SharingSettings()
    settings.programDecides = programDecides
    change(&settings)
    try replica.share(settings)
    #expect(try replica.apply(snapshot(1, [])) == .applied)
  }

  func snapshot(
    _ revision: Int64, _ rows: [SharedRow], floor: Int64 = 0, writers: [WriterTag: [UInt8]] = [:]
  ) -> SharedSnapshot {
    SharedSnapshot(
      revision: revision, identity: Self.identity, floor: floor, writers: writers, rows: rows)
  }

  /// A row of another machine, or of `writer`.
  func row(
    _ key: String, _ value: PreferenceValue?, _ number: Int64, revision: Int64,
    by writer: WriterTag? = nil
  ) throws -> SharedRow {
    let row = SharedRow(
      key: key, value: value, writer: writer ?? Self.other, number: number)
    return SharedRow(key: key, revision: revision, bytes: row.bytes)
  }

  /// A watch reports the changes of a revision.
  func receive(_ changes: SharedRevision.Change..., revision: Int64) throws {
    #expect(
      try replica.apply([SharedRevision(revision: revision, changes: changes)]) == .applied)
  }
}
