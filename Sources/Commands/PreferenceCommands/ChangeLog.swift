internal import FoundationEssentials
internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// What was changed in a suite, by whom, and what is unsent.
struct ChangeLog {
  /// The most that a log keeps in memory.
  private static let greatestSize = 64 << 20

  /// How many entries of the copy's journal are searched for those of a key.
  private static let greatestSearch = 10_000

  private let key: String?
  /// The name of this machine.
  private let machine: String
  /// The oldest first.
  private var transactions: [LoggedTransaction] = []
  private var lost: [ChangeFeedEntry] = []
  private var unsent: [UnsentChange] = []
  private var isOfStore = false

  /// Why there is nothing older; `nil` if there is, or never was.
  private(set) var end: String?

  init(key: String?, machine: String) {
    self.key = key
    self.machine = machine
  }

  // MARK: - Reading

  /// Reads the changes on the engine.
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
      found += LoggedTransaction.all(transaction, key: key).reversed()
    }
    if history.isCut { end = "only the last \(StoreHistory.greatestSearch) changes were looked at" }
    if history.isCompacted {
      end =
        found.last?.revision.map { "etcd has compacted what came before revision \($0)" }
        ?? "etcd has compacted older changes" + (key.map { "; it has none of '\($0)' since" } ?? "")
    }
    transactions = found.reversed()
    isOfStore = true
  }

  /// Reads the changes from elsewhere that the copy recorded.
  mutating func readJournal(_ replica: SharedReplica, last: Int) throws(PreferencesError) {
    transactions = try replica.recentFeed(searched(last))
      .filter { !$0.isConflict && isMeant($0.key) }.suffix(last).map(LoggedTransaction.init)
  }

  /// Reads the lost and the unsent changes.
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
    var rows = transactions.flatMap { transaction in
      let begin = [
        transaction.revision.map { "\($0)" } ?? "", transaction.date.map(DateText.text) ?? "",
        transaction.author { names[$0] ?? 0 > 1 },
      ]
      return transaction.changes.flatMap(\.rows).map { begin + $0 }
    }
    for entry in lost {
      let change = ValueDifference(
        key: entry.key, old: ShownValue(entry.old), new: ShownValue.absent)
      // A removal that was given up has no value.
      let shown = change.rows.isEmpty ? [["", entry.key, "", ""]] : change.rows
      rows += shown.map { ["", DateText.text(entry.date), machine, "lost"] + $0.dropFirst() }
    }
    for change in unsent {
      rows.append(
        [
          "", DateText.text(change.date), machine, change.waits ? "waits" : "unsent", change.key,
          "",
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
              ("winner", entry.writer.map { .string($0.hexadecimal) } ?? .null),
              ("value", ShownValue(entry.old).json),
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
    case .value(let value): self.init(value)
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

/// What a revision of the store, or a time in the copy's journal, has changed.
struct LoggedTransaction {
  /// `nil` if only the copy knows it.
  let revision: Int64?
  let date: Date?
  let writer: WriterTag?
  /// `nil` if unknown, or if the writer is not of this package.
  let machine: String?
  let changes: [ValueDifference]

  /// Whether another machine has sent the changes again after etcd lost them.
  var isSentAgain = false

  /// Returns a transaction, and one for each writer whose changes were only sent again with it.
  ///
  /// `key` is the key whose change counts, or `nil` for all.
  static func all(_ transaction: StoreTransaction, key: String?) -> [Self] {
    let meant = transaction.changes.filter { key?.utf8.elementsEqual($0.key.utf8) ?? true }
    let parts = Dictionary(grouping: meant) { $0.new?.isSentAgain == true ? $0.new?.writer : nil }
    return parts.map { Self(transaction, $0.value, by: $0.key) }
      .sorted { !$0.isSentAgain && $1.isSentAgain }
  }

  private init(
    _ transaction: StoreTransaction, _ changes: [StoreTransaction.Change],
    by original: WriterTag?
  ) {
    revision = transaction.revision
    date = transaction.date
    writer = original ?? transaction.writer
    machine = original.map { transaction.originalMachines[$0] } ?? transaction.machine
    self.changes = changes.map { ValueDifference($0, of: transaction) }
    isSentAgain = original != nil
  }

  /// Takes a change from elsewhere that the copy recorded.
  init(_ entry: ChangeFeedEntry) {
    revision = nil
    date = entry.date
    writer = entry.writer
    machine = nil
    changes = [
      ValueDifference(
        key: entry.key, old: ShownValue(entry.old), new: ShownValue(entry.new))
    ]
  }

  /// Returns the author in words; `isAmbiguous` says whether other machines have a name, too.
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
      ("sentAgain", .bool(isSentAgain)),
      ("changes", .array(changes.map(\.json))),
    ])
  }
}

extension WriterTag {
  /// Enough digits to distinguish the writers of a fleet.
  var shortText: String { String(hexadecimal.prefix(8)) }
}
