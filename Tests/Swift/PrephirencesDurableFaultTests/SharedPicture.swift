import Prephirences
import PrephirencesDurable

/// What a file of preferences is, as far as its user and its sender can tell.
struct SharedPicture: Equatable, CustomStringConvertible {
  let lines: [String]
  var description: String { lines.joined(separator: "; ") }

  init(_ store: DurablePreferences) throws {
    let replica = SharedReplica(store)
    var lines = try store.fetchAllObjects().map { "\($0) = \($1)" }.sorted()
    if try replica.isShared() { lines += try Self.sharing(replica) }
    self.lines = lines
  }

  private static func sharing(_ replica: SharedReplica) throws -> [String] {
    let state = try replica.state()
    let unsent = try replica.unsent()
    let numbered = try replica.unsent(upTo: .max)
    let journal = try replica.changeFeed(after: 0) ?? []
    return [
      "settings \(state.settings)", "identity \(state.identity ?? [])",
      "row \(state.writerRow.map { Array($0[..<9]) } ?? [])", "revision \(state.revision)",
      "closed \(state.isReadOnly)", "unsent \(state.unsentKeys) \(state.unsentBytes)",
      "report \(state.report?.code ?? "none")", "newer \(state.newerKeys)",
      "set aside \(state.setAside.map { "\($0.keys.sorted()) \($0.reason)" })",
      "numbered \(numbered.mayHaveHappened) waiting \(numbered.areWaiting)",
      "log \(unsent.map { "\($0.key) \($0.isRemoval) \($0.waits)" }.sorted())",
      "journal \(journal.map(Self.text).sorted())",
      "conflicts \(try replica.conflicts().map(Self.text))",
    ]
  }

  private static func text(_ entry: ChangeFeedEntry) -> String {
    "\(entry.key) \(text(entry.old)) \(text(entry.new)) \(entry.isConflict) \(entry.reason)"
  }

  private static func text(_ conflict: ReplicaConflict) -> String {
    let values = conflict.values.map { "\($0.key) \(text($0.local)) \(text($0.shared))" }
    return "\(conflict.isTransaction) \(values.sorted())"
  }

  private static func text(_ value: PreferenceObject?) -> String { value.map { "\($0)" } ?? "-" }
}

extension SharedBatch {
  /// Everything that is sent; equal only if the number is used for the same contents.
  var contents: [String] {
    ["\(writer.bytes) \(number) \(oldWriterRow ?? []) \(newWriterRow)"]
      + changes.map { "\($0.row.key) \($0.row.bytes) \($0.base)" }.sorted()
  }
}
