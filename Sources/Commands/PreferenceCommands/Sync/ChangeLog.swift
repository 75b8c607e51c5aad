internal import FoundationEssentials
internal import PreferencesDurable
internal import PreferencesShared
internal import Prephirences
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
  private var lost: [JournalEntry] = []
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
    transactions = try replica.recentJournal(searched(last))
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
      header: ["REVISION", "TIME", "MACHINE"] + ValueDifference.header, rows: rows)
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
