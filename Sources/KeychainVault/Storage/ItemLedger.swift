internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat
internal import Synchronization

/// What the observers of a handle know of the vault's items.
///
/// Transactions and looks of one handle run on one connection, one after the other, and change the
/// ledger before the next begins. So what the handle itself wrote is known when somebody looks.
final class ItemLedger: Sendable {
  private let snapshot = Mutex<ItemSnapshot?>(nil)

  /// Whether anybody observes.
  var isKept: Bool { snapshot.withLock { $0 != nil } }

  var current: ItemSnapshot? { snapshot.withLock { $0 } }

  func set(_ new: ItemSnapshot?) { snapshot.withLock { $0 = new } }

  /// Replaces the snapshot, unless nobody observes any more.
  ///
  /// - Returns: What has changed.
  func advance(to new: ItemSnapshot) -> [ItemSnapshot.Change] {
    snapshot.withLock { snapshot in
      guard let old = snapshot else { return [] }
      snapshot = new
      return old.changes(to: new)
    }
  }

  /// Takes down that there is no vault; one that was there is taken to come back.
  func noteAbsence() { snapshot.withLock { $0?.isKnown = true } }

  /// Takes over what the handle itself has committed.
  func add(_ record: WriteRecord) {
    snapshot.withLock { snapshot in
      guard var new = snapshot else { return }
      snapshot = nil  // So that the dictionary is changed in place.
      for (id, row) in record.items { new.items[id] = row }
      if let checks = record.checks { new.checks = checks }
      // If somebody else wrote meanwhile, the next look must compare.
      if new.stateBox == record.stateBefore { new.stateBox = record.stateAfter }
      snapshot = new
    }
  }
}
