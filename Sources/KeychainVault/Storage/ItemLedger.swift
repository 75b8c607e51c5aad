internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat
internal import Synchronization

/// What the observers of a handle know of the vault's items.
///
/// Transactions and scans of one handle run on one connection, one after the other, and update the
/// ledger before the next one begins. So a scan already knows what the handle itself wrote.
final class ItemLedger: Sendable {
  private let snapshot = Mutex<ItemSnapshot?>(nil)

  /// Whether there are observers.
  var isKept: Bool { snapshot.withLock { $0 != nil } }

  var current: ItemSnapshot? { snapshot.withLock { $0 } }

  func set(_ new: ItemSnapshot?) { snapshot.withLock { $0 = new } }

  /// Replaces the snapshot, unless there are no observers any more.
  ///
  /// - Returns: The changes.
  func advance(to new: ItemSnapshot) -> [ItemSnapshot.Change] {
    snapshot.withLock { snapshot in
      guard let old = snapshot else { return [] }
      snapshot = new
      return old.changes(to: new)
    }
  }

  /// Records that there is no vault.
  ///
  /// A vault that was there is expected to come back.
  func noteAbsence() { snapshot.withLock { $0?.isKnown = true } }

  /// Adds what the handle itself has committed.
  func add(_ record: WriteRecord) {
    snapshot.withLock { snapshot in
      guard var new = snapshot else { return }
      snapshot = nil  // So that the dictionary is changed in place.
      for (id, row) in record.items { new.items[id] = row }
      if let checks = record.checks { new.checks = checks }
      // If another writer came in between, the next scan must compare.
      if new.stateBox == record.stateBefore { new.stateBox = record.stateAfter }
      snapshot = new
    }
  }
}
