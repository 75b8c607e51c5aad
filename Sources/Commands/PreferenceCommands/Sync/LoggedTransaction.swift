internal import FoundationEssentials
internal import PreferencesDurable
internal import PreferencesShared
internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesSystem

extension ShownValue {
  init(_ row: SharedRow?) {
    switch row?.content {
    case .value(let object): self.init(object: object)
    case .removal, nil: self = .absent
    case .newer: self = .hidden("newer")
    case .damaged: self = .hidden("damaged")
    }
  }
}

extension ValueDifference {
  init(_ change: StoreTransaction.Change, of transaction: StoreTransaction) {
    self.init(
      key: change.key, old: transaction.hasOld ? ShownValue(change.old) : .unknown,
      new: ShownValue(change.new))
  }
}

/// What a revision of the store, or a time of the copy's journal, has changed.
struct LoggedTransaction {
  /// `nil` if the copy alone knows of it.
  let revision: Int64?
  let date: Date?
  let writer: WriterTag?
  /// `nil` if that is not known, also if the writer is not one of this package.
  let machine: String?
  let changes: [ValueDifference]

  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - key: The key whose change counts; `nil` for all.
  init(_ transaction: StoreTransaction, key: String?) {
    revision = transaction.revision
    date = transaction.date
    writer = transaction.writer
    machine = transaction.machine
    changes = transaction.changes.filter { key?.utf8.elementsEqual($0.key.utf8) ?? true }
      .map { ValueDifference($0, of: transaction) }
  }

  /// Takes what the copy noted when it came from elsewhere.
  init(_ entry: JournalEntry) {
    revision = nil
    date = entry.date
    writer = entry.writer
    machine = nil
    changes = [
      ValueDifference(
        key: entry.key, old: ShownValue(object: entry.old), new: ShownValue(object: entry.new))
    ]
  }

  /// Returns who has made it, in words; `isAmbiguous` says whether other machines have a name, too.
  func author(isAmbiguous: (String) -> Bool) -> String {
    guard let writer else { return revision == nil ? "" : "another tool" }
    let tag = writer.shortText
    guard let machine else { return tag }
    return isAmbiguous(machine) && !writer.isForgotten ? "\(machine) (\(tag))" : machine
  }

  var json: JSONValue {
    .object([
      ("revision", revision.map { .number("\($0)") } ?? .null), ("time", .date(date)),
      ("machine", machine.map(JSONValue.string) ?? .null),
      ("writer", writer.map { .string($0.hexadecimal) } ?? .null),
      ("changes", .array(changes.map(\.json))),
    ])
  }
}

extension WriterTag {
  /// As many digits as distinguish the writers of a fleet.
  var shortText: String { String(hexadecimal.prefix(8)) }
}
