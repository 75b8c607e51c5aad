internal import Foundation
public import KeychainCredentials
public import KeychainSecrets

extension Vault {
  /// Gives the vault a new root key, and seals everything anew, in one transaction.
  ///
  /// The old root key, and with it every removed or changed passphrase and every copy of the vault, then
  /// opens nothing more of this vault. Copies made before hold what they held: secrets that matter must be
  /// changed where they are used. A failure, or the end of the process, leaves the vault as it was.
  ///
  /// Kept are: the slot that opens the vault now, those whose secrets are presented, this device's, and
  /// those of recipients, whose identities must be pinned anew if they are pinned. Other slots go, and
  /// so do items that are bound to other devices. Keys that were cached for other programs are forgotten.
  ///
  /// - Parameters:
  ///   - sources: Secrets whose slots are kept beside the one that opens the vault now.
  ///   - ask: Is told a passphrase slot whose secret was not presented, and how many answers were
  ///     wrong before, and returns the passphrase, or `nil` to let the slot go.
  ///   - confirm: Is shown the plan if anything goes; `false` leaves everything as it is.
  ///   - progress: Is told now and then how far the work has come.
  /// - Returns: What was done.
  /// - Throws: ``KeychainError``, as every change of slots: with ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if a secret opens nothing, with ``KeychainError/Code/damaged``
  ///   if the vault is not intact; also with ``KeychainError/Code/cancelled`` if `confirm` says no,
  ///   ``KeychainError/Code/refused`` if nothing would be left that opens the vault, or items need a
  ///   passphrase and none is kept, or ``KeychainError/Code/busy`` if slots were changed meanwhile.
  @discardableResult
  public func rekey(
    keeping sources: [UnlockSource] = [],
    asking ask: (VaultSlot, Int) throws(KeychainError) -> SecretBytes? = {
      (_, _) throws(KeychainError) in nil
    },
    confirm: (RekeyPlan) throws(KeychainError) -> Bool,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> RekeyReport {
    let admin = try administration()
    var secrets = try RekeySecrets(self, admin)
    for source in sources { try secrets.present(source) }
    try secrets.ask(ask)
    let kept = secrets
    let agreed = try admin.inspect(checkingSlots: false) { change throws(KeychainError) in
      try RekeyDecision(change, admin, kept).plan
    }
    if agreed.losesAnything {
      let isConfirmed = try admin.session.deadline.excluding { () throws(KeychainError) in
        try confirm(agreed)
      }
      guard isConfirmed else {
        throw KeychainError(.cancelled, "the vault keeps its keys; nothing was changed")
      }
    }
    let rekey = try VaultRekey(admin: admin, progress: progress)
    let plan = try rekey.run { change throws(KeychainError) -> VaultRekey.Decision<RekeyPlan> in
      let decision = try RekeyDecision(change, admin, kept)
      guard decision.plan.staysWithin(agreed) else { throw .slotsChanged }
      return VaultRekey.Decision(
        slots: try decision.slots(under: rekey), result: decision.plan,
        otherDeviceItems: decision.plan.otherDeviceItemCount)
    }
    return RekeyReport(plan: plan, check: rekey.newCheck)
  }
}
