internal import FoundationEssentials
internal import PreferencesCore

/// The rules for local changes of a shared file.
struct SharingRules {
  /// The number of these rules in `state`.
  let number: Int64
  let quota: SharingQuota
  let isReadOnly: Bool

  init(_ database: OpenDatabase, number: Int64) throws {
    var found: (settings: SharingSettings, isReadOnly: Bool)?
    try database.connection.run("SELECT settings, closed FROM sync") { row in
      let bytes = Data(row.bytes(0))
      guard let settings = try? JSONDecoder().decode(SharingSettings.self, from: bytes) else {
        return
      }
      found = (settings, row.integer(1) != 0)
    }
    guard let found else { throw PreferencesError.damagedSharing(database.connection.path) }
    self.number = number
    quota = found.settings.quota
    isReadOnly = found.isReadOnly
  }

  func check(_ transaction: WriteTransaction) throws {
    try check(transaction.changes, transaction)
  }

  /// Checks a transaction's changes by this machine.
  func check(_ changes: [WriteTransaction.Change], _ transaction: WriteTransaction) throws {
    guard !isReadOnly else {
      throw PreferencesError(
        .readOnly,
        "this user may read the shared preferences, but not change them; "
          + "ask who runs the shared store: \(transaction.database.connection.path)")
    }
    for change in changes {
      guard let size = change.new?.bytes.count else { continue }
      guard change.old != nil || change.key.text.utf8.count <= quota.keyBytes else {
        throw PreferencesError.overQuota(
          "a key is longer than the \(quota.keyBytes) bytes that shared preferences allow; "
            + "shorten it: '\(change.key.text.prefix(100))'")
      }
      guard size <= quota.valueBytes || size <= change.old?.bytes.count ?? 0 else {
        throw PreferencesError.overQuota(
          "the value of the key '\(change.key.text)' is larger than the \(quota.valueBytes) bytes "
            + "that shared preferences allow; store less")
      }
    }
  }

  /// Checks values that a program has decided as others that it sets.
  func check(decided changes: [WriteTransaction.Change], _ transaction: WriteTransaction) throws {
    try check(changes, transaction)
    let growth = SharedTotals.Growth(changes)
    guard growth.keys > 0 || growth.bytes > 0 else { return }
    try check(SharedTotals(counting: transaction), after: growth)
  }

  /// Refuses growth beyond the quota.
  func check(_ totals: SharedTotals, after growth: SharedTotals.Growth) throws {
    guard growth.keys <= 0 || totals.keys <= quota.keys else {
      throw PreferencesError.overQuota(
        "shared preferences would have more than \(quota.keys) keys; remove some first")
    }
    guard growth.bytes <= 0 || totals.bytes <= quota.bytes else {
      throw PreferencesError.overQuota(
        "shared preferences would be larger than \(quota.bytes) bytes; remove some first")
    }
  }
}

extension PreferencesError {
  static func overQuota(_ message: String) -> Self { Self(.overQuota, message) }

  static func damagedSharing(_ path: String) -> Self {
    Self(
      .damaged,
      "what the file says about sharing is damaged; move the file away, or restore a copy: \(path)")
  }
}

package struct SharingSettings: Hashable, Sendable, Codable {
  package var quota = SharingQuota()
  /// Whether conflicts wait for a program that decides them; otherwise the engine's order decides.
  package var programDecides = false
  /// Where the file is shared: different configurations have different texts.
  package var place: String?
  package init() {}
}

/// What a shared store may hold, checked when this machine writes.
///
/// Only added keys or bytes are refused: the changes of others may exceed the quota.
package struct SharingQuota: Hashable, Sendable, Codable {
  package var keys = 1024
  /// Of all keys and values.
  package var bytes = 1 << 20
  package var valueBytes = 1 << 20
  package var keyBytes = 64
  package init() {}
}

/// The limits of one transaction's changes, which are sent as one.
enum BatchLimit {
  static let keys = 120
  static let bytes = 1 << 20

  /// The size of a row before its value.
  static let rowHeader = 42
}

/// The totals of a shared file, so that a change need not count all keys.
struct SharedTotals {
  private(set) var generation: Int64
  private(set) var keys: Int
  private(set) var bytes: Int

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

  /// Counts the present rows, with the changes of a transaction.
  init(counting transaction: WriteTransaction) throws {
    var counted = (keys: 0, bytes: 0)
    try transaction.database.connection.run(
      "SELECT count(*), sum(length(key) + length(value)) FROM preference WHERE kind != 0"
    ) { row in counted = (Int(row.integer(0) ?? 0), Int(row.integer(1) ?? 0)) }
    generation = transaction.generation
    (keys, bytes) = counted
  }

  /// Returns the totals after a transaction, or `nil` if unknown.
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
