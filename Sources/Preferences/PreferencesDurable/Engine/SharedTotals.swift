internal import Prephirences

/// How much a shared file has, so that a change needs no count of all keys.
struct SharedTotals {
  private(set) var generation: Int64
  private(set) var keys: Int
  private(set) var bytes: Int

  /// What a transaction adds.
  struct Growth {
    var keys = 0
    var bytes = 0

    init(_ changes: [WriteTransaction.Change]) {
      for change in changes {
        bytes += (change.new?.bytes.count ?? 0) - (change.old?.bytes.count ?? 0)
        let keySize = change.key.text.utf8.count
        switch (change.old, change.new) {
        case (nil, _?): (keys, bytes) = (keys + 1, bytes + keySize)
        case (_?, nil): (keys, bytes) = (keys - 1, bytes - keySize)
        default: break
        }
      }
    }
  }

  /// Counts what there is, with the changes of a transaction.
  init(counting transaction: WriteTransaction) throws(PreferencesError) {
    var counted = (keys: 0, bytes: 0)
    try transaction.database.connection.run(
      "SELECT count(*), sum(length(key) + length(value)) FROM preference WHERE kind != 0"
    ) { row in counted = (Int(row.integer(0) ?? 0), Int(row.integer(1) ?? 0)) }
    generation = transaction.generation
    (keys, bytes) = counted
  }

  /// Returns the totals after a transaction; `nil` if they are not known.
  func adding(_ growth: Growth, of transaction: WriteTransaction) -> Self? {
    guard generation == transaction.generation - 1, !transaction.hasUnlistedChanges else {
      return nil
    }
    var next = self
    next.generation = transaction.generation
    next.keys += growth.keys
    next.bytes += growth.bytes
    return next
  }
}
