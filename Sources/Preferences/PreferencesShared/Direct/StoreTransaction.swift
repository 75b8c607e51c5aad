package import Foundation
package import PreferencesDurable
package import Prephirences

/// What one revision of the engine has changed in a store.
package struct StoreTransaction: Sendable {
  package struct Change: Sendable {
    package let key: PreferenceKey
    /// The rows before and after; `nil` if there was none.
    package let old: SharedRow?
    package let new: SharedRow?
  }

  package let revision: Int64
  package var changes: [Change]

  /// When it was made by the clock of its machine; `nil` if that is not known.
  package var date: Date?
  /// Who has made it; `nil` if another tool than this package has.
  package var writer: WriterTag?
  /// What the machine of the writer was called then, as it says itself.
  package var machine: String?

  /// Whether the engine still has what was there before.
  package let hasOld: Bool
}

extension DirectStore {
  /// Keys that were changed again, so that a transaction was not taken back.
  package struct ChangedSince: Error {
    /// The rows that they have now; `nil` if it was deleted.
    package let keys: [(key: PreferenceKey, row: SharedRow?)]
  }

  /// Sets each key of a transaction to what it had before, if none was changed since; all or nothing.
  ///
  /// - Parameters:
  ///   - reverted: The transaction.
  ///   - isRehearsal: Whether to fail as that would, without changing anything.
  /// - Throws: ``ChangedSince``, or ``PreferencesError``, with
  ///   ``PreferencesError/Code/outcomeUnknown`` if it may have happened.
  package func revert(_ reverted: StoreTransaction, isRehearsal: Bool = false) throws {
    try change(asOne: true, isRehearsal: isRehearsal) { transaction in
      var changed: [(key: PreferenceKey, row: SharedRow?)] = []
      for change in reverted.changes {
        let row = try transaction.row(change.key)
        if row != change.new { changed.append((change.key, row)) }
      }
      guard changed.isEmpty else { throw ChangedSince(keys: changed) }
      for change in reverted.changes {
        transaction.storeObject(try change.old?.storedValue(), forKey: change.key)
      }
    }
  }
}
