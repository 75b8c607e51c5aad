internal import Foundation
internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesDurable
internal import PrephirencesShared

/// What a key had before or after a change.
enum LoggedValue {
  case absent
  case value(StoredValue)
  /// A value that cannot be shown, and why in one word.
  case hidden(String)

  static let unknown = LoggedValue.hidden("unknown")

  init(_ object: PreferenceObject?) {
    self = object.map { StoredValue($0).map(LoggedValue.value) ?? .unknown } ?? .absent
  }

  init(_ row: SharedRow?) {
    switch row?.content {
    case .value(let object): self.init(object)
    case .removal, nil: self = .absent
    case .newer: self = .hidden("newer")
    case .damaged: self = .hidden("damaged")
    }
  }

  /// The words for type and value; `nil` if there is no value.
  fileprivate var words: [String]? {
    switch self {
    case .absent: nil
    case .value(let value): [value.kind.rawValue, value.line]
    case .hidden(let reason): [reason, ""]
    }
  }

  var json: JSONValue {
    switch self {
    case .absent: .null
    case .value(let value):
      .object([("type", .string(value.kind.rawValue)), ("value", value.plainJSON)])
    case .hidden(let reason): .object([("type", .string(reason))])
    }
  }
}

/// What a transaction has done to a key.
struct LoggedChange {
  let key: String
  let old: LoggedValue
  let new: LoggedValue

  init(key: String, old: LoggedValue, new: LoggedValue) {
    self.key = key
    self.old = old
    self.new = new
  }

  init(_ change: StoreTransaction.Change, of transaction: StoreTransaction) {
    self.init(
      key: change.key, old: transaction.hasOld ? LoggedValue(change.old) : .unknown,
      new: LoggedValue(change.new))
  }

  /// The change that takes this one back.
  var reverted: Self { Self(key: key, old: new, new: old) }

  /// The rows of a diff: `-` with what the key had, `+` with what it got, and its type.
  var rows: [[String]] {
    let rows = [("-", old), ("+", new)].compactMap { sign, value in
      value.words.map { [sign, key] + $0 }
    }
    return rows.isEmpty ? [["-", key, "", ""]] : rows
  }

  static let header = ["", "KEY", "TYPE", "VALUE"]

  var json: JSONValue {
    .object([("key", .string(key)), ("old", old.json), ("new", new.json)])
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
  let changes: [LoggedChange]

  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - key: The key whose change counts; `nil` for all.
  init(_ transaction: StoreTransaction, key: String?) {
    revision = transaction.revision
    date = transaction.date
    writer = transaction.writer
    machine = transaction.machine
    changes = transaction.changes.filter { key?.utf8.elementsEqual($0.key.utf8) ?? true }
      .map { LoggedChange($0, of: transaction) }
  }

  /// Takes what the copy noted when it came from elsewhere.
  init(_ entry: JournalEntry) {
    revision = nil
    date = entry.date
    writer = entry.writer
    machine = nil
    changes = [LoggedChange(key: entry.key, old: LoggedValue(entry.old), new: LoggedValue(entry.new))]
  }

  /// Who has made it, in words.
  ///
  /// - Parameter isAmbiguous: Whether other machines have the name, too.
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
  /// So many digits that tell the writers of a fleet apart.
  var shortText: String { String(hexadecimal.prefix(8)) }
}
