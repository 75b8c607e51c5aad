internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension Unlocker {
  /// Opens the root key by the private key of an identity.
  ///
  /// Anybody who can write the file could have sealed a root key of their own to the identity; hence the
  /// pins, and where there are none, the record of what was seen.
  func openAsRecipient(
    _ presented: borrowing PresentedSecret, _ head: VaultHead, _ path: String
  ) throws(KeychainError) -> OpenedSlot {
    let check = VaultCheck(bytes: head.row.checks.open)
    if presented.pins.isEmpty {
      tellFirstSight(check, path)
    } else if !presented.pins.contains(check) {
      throw .notPinned(presented.source, check, path)
    }
    let publicKey = try publicKey(of: presented.secret)
    let slots = head.slots(.recipient).filter { $0.parameters == publicKey }
    var failure: KeychainError?
    // Anybody can add a slot that opens to another key, or to none: that must not close the others.
    for slot in slots {
      guard let root = try SlotSealing.open(slot, privateKey: presented.secret) else {
        failure = .damagedSlot(slot.number)
        continue
      }
      // It is the key that has the pinned check, not only the row that shows it.
      if try head.row.owns(root, slot.grant) {
        return OpenedSlot(slot: slot, root: SharedSecret(root))
      }
      failure = .strangeSlot(slot.number)
    }
    if let failure { throw failure }
    try head.slots.requireUndamaged()
    throw KeychainError(
      .incorrectSecret,
      "the vault \(path) has no slot for the identity from \(presented.source)",
      recovery: .listWhatOpens)
  }

  private func publicKey(of privateKey: borrowing SecretBytes) throws(KeychainError) -> Data {
    try translated(secrets: Data(SealedBox.publicKey(of: privateKey)))
  }

  /// Tells the check of a vault that is believed only because nothing is known about it.
  private func tellFirstSight(_ check: VaultCheck, _ path: String) {
    guard seenRecord(path).record == nil else { return }
    configuration.notice?(
      Notice(
        kind: .firstSight,
        message: "the vault \(path) is seen here for the first time, and the identity names no "
          + "vaults",
        recovery:
          "compare its check, \("\(check)"), with what \(.status) shows where the vault was made"))
  }
}

extension KeychainError {
  static func notPinned(_ source: String, _ check: VaultCheck, _ path: String) -> Self {
    Self(
      .rolledBack,
      "the vault \(path) is another vault than those that the identity from \(source) is pinned to; "
        + "its check is \(check)",
      recovery: "if that is the check where the vault was made, as after a new root key, "
        + "run \(.pinIdentity(check: "\(check)"))")
  }
}
