internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension Unlocker {
  /// Opens the root key with the private key of an identity.
  ///
  /// Anybody who can write the file could have sealed a different root key to the identity.
  /// Therefore the pins are checked, or, if there are none, the seen record.
  func openAsRecipient(
    _ presented: borrowing PresentedSecret, _ head: VaultHead, _ path: String
  ) throws(KeychainError) -> OpenedSlot {
    let check = VaultCheck(bytes: head.row.checks.open)
    if presented.pins.isEmpty {
      reportFirstSight(check, path)
    } else if !presented.pins.contains(check) {
      throw .notPinned(presented.source, check, path)
    }
    let publicKey = try publicKey(of: presented.secret)
    let slots = head.slots(.recipient).filter { $0.parameters == publicKey }
    var failure: KeychainError?
    // Anybody can add a slot that opens another key or none. Such a slot must not hide the others.
    for slot in slots {
      guard let root = try SlotSealing.open(slot, privateKey: presented.secret) else {
        failure = .damagedSlot(slot.number)
        continue
      }
      // Checks the key itself, not only the row that shows the pinned check.
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

  /// Reports the check of a vault that is trusted only because it was never seen before.
  private func reportFirstSight(_ check: VaultCheck, _ path: String) {
    guard seenRecord(path).record == nil else { return }
    configuration.notice?(
      Notice(
        kind: .firstSight,
        message:
          "the vault \(path) is seen here for the first time, and the identity is not pinned to "
          + "any vault",
        recovery:
          "compare its check, \("\(check)"), with what \(.status) shows where the vault was made"))
  }
}

extension KeychainError {
  static func notPinned(_ source: String, _ check: VaultCheck, _ path: String) -> Self {
    Self(
      .rolledBack,
      "the identity from \(source) is not pinned to \(path), which is another vault; "
        + "its check is \(check)",
      recovery: "if that is the check where the vault was made, as after a new root key, "
        + "run \(.pinIdentity(check: "\(check)"))")
  }
}
