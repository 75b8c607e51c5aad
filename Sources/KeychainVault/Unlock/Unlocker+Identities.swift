internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension Unlocker {
  /// Opens the vault with an identity.
  ///
  /// Anybody who can write the file could have sealed keys of another vault to the identity.
  /// Therefore the seen record decides, or, where there is none, the pins.
  func openAsRecipient(
    _ presented: borrowing PresentedSecret, _ head: VaultHead, _ path: String
  ) throws(KeychainError) -> OpenedSlot {
    // A record of another vault, which a person is about to let go, vouches for nothing here.
    if trust.file.seenRecord?.id != head.id {
      let check = try head.check()
      if presented.pins.isEmpty {
        reportFirstSight(check, path)
      } else if !presented.pins.contains(check) {
        throw .notPinned(presented.source, check, path)
      }
    }
    let identity = try VaultIdentity(seed: SharedSecret(copying: presented.secret).copy())
    var trial = SlotTrial()
    // Slots don't show whose they are. One that opens other keys or none must not hide the others.
    for slot in head.slots(of: .recipient) {
      let opened = try trial.open(slot, of: head, trust) { () throws(KeychainError) in
        try SlotSealing.open(slot, identity: identity, vault: head.id)
      }
      if let opened { return opened }
    }
    if let failure = trial.failure { throw failure }
    try head.requireWellFormed(.recipient, path: path)
    throw KeychainError(
      .incorrectSecret,
      "the vault \(path) has no slot for the identity from \(presented.source)",
      recovery: .listWhatOpens)
  }

  /// Reports the check of a vault that is trusted only because it was never seen before.
  private func reportFirstSight(_ check: VaultCheck, _ path: String) {
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
      recovery: "if that is the check where the vault was made, "
        + "run \(.pinIdentity(check: "\(check)"))")
  }
}
