internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension Vault {
  /// Removes a slot.
  ///
  /// Earlier copies of the vault can still be opened with it, and contain the root key, which does
  /// not change. To give the vault a new root key in the same transaction, use
  /// ``rekey(removing:deletingItems:keeping:asking:keepingRecipient:confirm:progress:)``. If no
  /// passphrase, key file or recipient is left, this machine's device slot then opens everything.
  ///
  /// - Parameters:
  ///   - number: The number of the slot.
  ///   - deletingItems: Whether items that need a passphrase are deleted with the last passphrase.
  ///   - progress: Called from time to time with the progress of the verification.
  /// - Returns: The credentials that were deleted.
  /// - Throws: As ``addPassphraseSlot(_:keepingRecipient:progress:)``;
  ///   ``KeychainError/Code/notFound`` if there is no such slot, or ``KeychainError/Code/refused``
  ///   if nothing else would open the vault, or if items need a passphrase and `deletingItems` is
  ///   `false`.
  @discardableResult
  public func removeSlot(
    _ number: UInt32, deletingItems: Bool = false, progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> [Credential] {
    let admin = try administration()
    let deviceInput: SlotInput? =
      if let device = try unlocker.device.find() { try SlotInput.device(device) } else { nil }
    let ownSlot = try unlocker.device.slot(admin.head)?.number
    let (deleted, isPromoted) = try admin.change(progress: progress) {
      change throws(KeychainError) -> ([Credential], Bool) in
      let removal = try SlotRemoval(number, change)
      let deleted = try removal.deleteItems(deletingItems, &change)
      let isPromoted = try removal.promoteDevice(deviceInput, ownSlot, &change)
      try change.writer.remove(removal.slot)
      return (deleted, isPromoted)
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
  /// - Throws: As ``removeSlot(_:deletingItems:progress:)``.
  public func itemsDeleted(withSlot number: UInt32) throws(KeychainError) -> [Credential] {
    let admin = try administration()
    return try admin.inspect { change throws(KeychainError) -> [Credential] in
      try SlotRemoval(number, change).itemsToDelete(change).credentials
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
