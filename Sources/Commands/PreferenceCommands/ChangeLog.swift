internal import FoundationEssentials
internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// What was changed in a suite, by whom, and what is unsent.
struct ChangeLog {
  /// As much as a log keeps in memory.
  private static let greatestSize = 64 << 20

  /// How many entries of the copy's journal are read to find those of a key.
  private static let greatestSearch = 10_000

  private let key: String?
  /// The oldest first.
  private var transactions: [LoggedTransaction] = []
  private var lost: [ChangeFeedEntry] = []
  private var unsent: [UnsentChange] = []
  private var isOfStore = false

  /// Why there is nothing older; `nil` if there is, or never was.
  private(set) var end: String?

  init(key: String?) { self.key = key }

  // MARK: - Reading

  /// Reads what the engine has.
  mutating func read(_ store: DirectStore, last: Int) throws(PreferencesError) {
    var history = StoreHistory(store, key: key)
    var found: [LoggedTransaction] = []
    var size = 0
    while found.count < last {
      guard let transaction = try history.next() else { break }
      size += transaction.changes.reduce(0) {
        $0 + ($1.old?.bytes.count ?? 0) + ($1.new?.bytes.count ?? 0)
      }
      if size > Self.greatestSize, !found.isEmpty {
        end = "older changes are left out, since these are so large"
        break
      }
      found.append(LoggedTransaction(transaction, key: key))
    }
    if history.isCut { end = "only the last \(StoreHistory.greatestSearch) changes were looked at" }
    if history.isCompacted {
      end =
        found.last?.revision.map { "etcd has compacted what came before revision \($0)" }
        ?? "etcd has compacted all changes"
    }
    transactions = found.reversed()
    isOfStore = true
  }

  /// Reads what the copy noted of changes that came from elsewhere.
  mutating func readJournal(_ replica: SharedReplica, last: Int) throws(PreferencesError) {
    transactions = try replica.recentFeed(searched(last))
      .filter { !$0.isConflict && isMeant($0.key) }.suffix(last).map(LoggedTransaction.init)
  }

  /// Reads what was given up, and what is unsent.
  mutating func readOwn(_ replica: SharedReplica, last: Int) throws(PreferencesError) {
    lost = try replica.recentConflicts(searched(last)).filter { isMeant($0.key) }.prefix(last)
      .reversed()
    unsent = try replica.unsent().filter { isMeant($0.key) }
  }

  private func searched(_ last: Int) -> Int { key == nil ? last : Self.greatestSearch }

  private func isMeant(_ other: String) -> Bool { key?.utf8.elementsEqual(other.utf8) ?? true }

  // MARK: - Writing

  var table: TextTable {
    let names = Dictionary(grouping: transactions.filter { $0.writer?.isForgotten == false }) {
      $0.machine ?? ""
    }.mapValues { Set($0.map(\.writer)).count }
    var authors: [WriterTag: String] = [:]
    var rows = transactions.flatMap { transaction in
      let begin = [
        transaction.revision.map { "\($0)" } ?? "", transaction.date.map(DateText.text) ?? "",
        transaction.author { names[$0] ?? 0 > 1 },
      ]
      if let writer = transaction.writer { authors[writer] = begin[2] }
      return transaction.changes.flatMap(\.rows).map { begin + $0 }
    }
    for entry in lost {
      // If the change that counts is not in the log, the tag of its machine is what the copy knows.
      let author = entry.writer.map { authors[$0] ?? $0.shortText } ?? ""
      let change = ValueDifference(
        key: entry.key, old: ShownValue(object: entry.old), new: ShownValue.absent)
      // A removal that was given up has no value.
      let shown = change.rows.isEmpty ? [["", entry.key, "", ""]] : change.rows
      rows += shown.map { ["", DateText.text(entry.date), author, "lost"] + $0.dropFirst() }
    }
    for change in unsent {
      rows.append(
        [
          "", DateText.text(change.date), "", change.waits ? "waits" : "unsent", change.key, "",
          "",
        ])
    }
    return TextTable(
      header: ["REVISION", "TIME", "MACHINE"] + ValueDifference.header, rows: rows, nameCount: 5)
  }

  var json: JSONValue {
    .object([
      ("source", .string(isOfStore ? "etcd" : "copy")),
      ("end", end.map(JSONValue.string) ?? .null),
      ("transactions", .array(transactions.map(\.json))),
      (
        "lost",
        .array(
          lost.map { entry in
            .object([
              ("key", .string(entry.key)), ("time", .date(entry.date)),
              ("writer", entry.writer.map { .string($0.hexadecimal) } ?? .null),
              ("value", ShownValue(object: entry.old).json),
            ])
          })
      ),
      (
        "unsent",
        .array(
          unsent.map { change in
            .object([
              ("key", .string(change.key)), ("time", .date(change.date)),
              ("waits", .bool(change.waits)),
            ])
          })
      ),
    ])
  }
}

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
  init(_ entry: ChangeFeedEntry) {
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
