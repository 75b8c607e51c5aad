internal import Foundation
internal import Prephirences

/// What the local changes of a shared file must keep to.
struct SharingRules {
  /// The number in `state` that these rules have.
  let number: Int64
  let quota: SharingQuota
  let isReadOnly: Bool

  init(_ database: OpenDatabase, number: Int64) throws(PreferencesError) {
    var found: (settings: SharingSettings, isReadOnly: Bool)?
    try database.connection.run("SELECT settings, closed FROM sync") { row in
      let bytes = Data(row.bytes(0))
      guard let settings = try? JSONDecoder().decode(SharingSettings.self, from: bytes) else {
        return
      }
      found = (settings, row.integer(1) != 0)
    }
    guard let found else { throw .damagedSharing(database.connection.path) }
    self.number = number
    quota = found.settings.quota
    isReadOnly = found.isReadOnly
  }

  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/readOnly`` or
  ///   ``PreferencesError/Code/overQuota``.
  func check(_ transaction: WriteTransaction) throws(PreferencesError) {
    try check(transaction.changes, transaction)
  }

  /// Checks those of a transaction's changes that this machine makes.
  func check(
    _ changes: [WriteTransaction.Change], _ transaction: WriteTransaction
  ) throws(PreferencesError) {
    guard !isReadOnly else {
      throw PreferencesError(
        .readOnly,
        "this user may read the shared preferences, but not change them; "
          + "ask who runs the shared store: \(transaction.database.connection.path)")
    }
    for change in changes {
      guard let size = change.new?.bytes.count else { continue }
      guard change.old != nil || change.key.text.utf8.count <= quota.keyBytes else {
        throw .overQuota(
          "a key is longer than the \(quota.keyBytes) bytes that shared preferences allow; "
            + "shorten it: '\(change.key.text.prefix(100))'")
      }
      guard size <= quota.valueBytes || size <= change.old?.bytes.count ?? 0 else {
        throw .overQuota(
          "the value of the key '\(change.key.text)' is larger than the \(quota.valueBytes) bytes "
            + "that shared preferences allow; store less")
      }
    }
  }

  /// Refuses values that a program has decided, as others that it sets.
  func check(
    decided changes: [WriteTransaction.Change], _ transaction: WriteTransaction
  ) throws(PreferencesError) {
    try check(changes, transaction)
    let growth = SharedTotals.Growth(changes)
    guard growth.keys > 0 || growth.bytes > 0 else { return }
    try check(SharedTotals(counting: transaction), after: growth)
  }

  /// Refuses what grows the preferences beyond the quota.
  func check(_ totals: SharedTotals, after growth: SharedTotals.Growth) throws(PreferencesError) {
    guard growth.keys <= 0 || totals.keys <= quota.keys else {
      throw .overQuota(
        "shared preferences would have more than \(quota.keys) keys; remove some first")
    }
    guard growth.bytes <= 0 || totals.bytes <= quota.bytes else {
      throw .overQuota(
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
