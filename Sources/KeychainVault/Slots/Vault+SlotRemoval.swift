internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension Vault {
  /// Removes a slot, and gives the vault new keys in the same transaction.
  ///
  /// As ``rekey(removing:deletingItems:newAdministrationKey:droppingDamaged:confirm:progress:)``. With `keepingKeys`,
  /// the vault keeps its root key and its administration key: whoever had the slot still knows them,
  /// and with them opens whatever copy of the file they get. If no passphrase, key file or recipient
  /// is left, this machine's device slot then opens everything.
  ///
  /// - Parameters:
  ///   - number: The number of the slot.
  ///   - keepingKeys: Whether the vault keeps its keys.
  ///   - deletingItems: Whether items that need a passphrase are deleted with the last passphrase.
  ///   - droppingDamaged: Whether items that don't open are deleted with new keys; else they are an error.
  ///   - confirm: Receives what stays and what is lost with new keys; not called with `keepingKeys`.
  ///     Return `false` to change nothing. Without this closure, nothing is changed if items of
  ///     other devices would be lost.
  ///   - progress: Called from time to time with the progress of the work.
  /// - Returns: The credentials that were deleted.
  /// - Throws: As ``rekey(removing:deletingItems:newAdministrationKey:droppingDamaged:confirm:progress:)``.
  @discardableResult
  public func removeSlot(
    _ number: UInt32, keepingKeys: Bool = false, deletingItems: Bool = false,
    droppingDamaged: Bool = false,
    confirm: (RekeyPlan) throws(KeychainError) -> Bool = losingNothing,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> [Credential] {
    if keepingKeys {
      return try removeSlotKeepingKeys(number, deletingItems: deletingItems)
    }
    let request = RekeyDecision.Request(
      removed: [number], deletesItems: deletingItems, dropsDamaged: droppingDamaged)
    return try rekey(request, confirm, progress).decision.itemsToDelete.credentials
  }

  private func removeSlotKeepingKeys(
    _ number: UInt32, deletingItems: Bool
  ) throws(KeychainError) -> [Credential] {
    let admin = try administration()
    let ownSlot = try unlocker.device.slot(admin.head)?.number
    let (deleted, isPromoted) = try admin.change {
      change throws(KeychainError) -> ([Credential], Bool) in
      let removed = try change.slot(toRemove: number)
      let items = try change.itemsDeleted(with: removed)
      try items.requireAgreement(deletingItems) { names in
        .lastPassphrase(number, names, withNewKeys: false)
      }
      for item in items.items { change.remove(item) }
      let rest = change.slots.filter { $0.number != number }
      let own = try rest.deviceToPromote(ownSlot, orElse: RekeyDecision.keepOne)
      let promoted = try own.map { own throws(KeychainError) in
        try change.epoch.reseal(
          own.slot, of: own.member, grant: .administers,
          inputKey: try admin.presented()[own.number])
      }
      if let promoted { change.put(promoted) }
      change.removeSlot(number)
      return (items.credentials, promoted != nil)
    }
    if isPromoted { reportPromotion() }
    for credential in deleted {
      observers.notify(CredentialChange(credential.identity, .removed))
    }
    return deleted
  }

  /// Lists the credentials that removing a slot would delete.
  ///
  /// - Parameter number: The number of the slot.
  /// - Returns: The credentials; empty unless it is the last passphrase.
  /// - Throws: As ``removeSlot(_:keepingKeys:deletingItems:droppingDamaged:confirm:progress:)``.
  public func itemsDeleted(withSlot number: UInt32) throws(KeychainError) -> [Credential] {
    let admin = try administration()
    return try admin.inspect { change throws(KeychainError) -> [Credential] in
      try change.itemsDeleted(with: change.slot(toRemove: number)).credentials
    }
  }

  func reportPromotion() {
    configuration.notice?(
      Notice(
        kind: .deviceGrantChanged,
        message: "the device key alone now opens everything, because there is no passphrase, "
          + "key file or recipient"))
  }
}

extension SlotChange {
  /// Returns the items that are deleted with the last passphrase.
  fileprivate func itemsDeleted(
    with removed: ListedSlot
  ) throws(KeychainError) -> PassphraseItems {
    let rest = slots.filter { $0.number != removed.number }
    guard removed.kind == .passphrase, !rest.hasPassphrase else { return PassphraseItems() }
    return try PassphraseItems(of: self, includingOtherDevices: true)
  }
}
