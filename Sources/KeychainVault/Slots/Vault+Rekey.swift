internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Gives the vault a new root key, and seals everything again, in one transaction.
  ///
  /// The old root key then opens nothing more of this vault, nor does any removed or changed
  /// passphrase or any copy of the vault. Earlier copies keep their contents: change important
  /// secrets where they are used. If the call fails or the process ends, the vault is unchanged.
  ///
  /// Four kinds of slots are kept: the slot that opened the vault, the slots whose secrets are
  /// presented, this device's slot, and the recipients for which `isKept` returns `true`. Pinned
  /// identities of those must be pinned again. Other slots are lost, and so are items that are
  /// bound to other devices. If no passphrase, key file or recipient is kept, this machine's device
  /// slot opens everything, as after
  /// ``removeSlot(_:deletingItems:progress:)``. Keys that were cached for other programs are
  /// removed.
  ///
  /// Recipients must be confirmed although their identities are not presented: whoever had the
  /// vault's keys once, such as a removed recipient, can put a slot into the file that looks
  /// genuine. Only the public key shows whose slot it is.
  ///
  /// - Parameters:
  ///   - number: The number of a slot that is removed in the same transaction, so that it opens
  ///     nothing in the file afterwards, not even under the old root key; `nil` to remove no slot.
  ///   - deletingItems: Whether items that need a passphrase are deleted if a slot is removed and no
  ///     passphrase is kept.
  ///   - sources: Secrets whose slots are kept in addition to the slot that opened the vault.
  ///   - ask: Receives a passphrase slot whose secret was not presented and the number of wrong
  ///     answers so far, and returns the passphrase, or `nil` to lose the slot.
  ///   - isKept: Receives the slot of a recipient, and returns whether it continues to open the
  ///     vault. Without this closure, no recipient is kept.
  ///   - confirm: Receives the plan if something other than the removed slot is lost, or if this
  ///     machine's device slot will open everything. Return `false` to change nothing.
  ///   - progress: Called from time to time with the progress of the work.
  /// - Returns: What was done.
  /// - Throws: ``KeychainError``, like every change of slots: ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if a secret opens nothing,
  ///   ``KeychainError/Code/damaged`` if the vault is not intact, or if a secret opens a slot that
  ///   was not made by a holder of the root key. Also ``KeychainError/Code/cancelled`` if `confirm`
  ///   returns `false`, ``KeychainError/Code/refused`` if nothing would be left that opens the
  ///   vault, or if items need a passphrase and none is kept, ``KeychainError/Code/notFound`` if
  ///   the slot to remove does not exist, or ``KeychainError/Code/busy`` if slots were changed
  ///   meanwhile.
  @discardableResult
  public func rekey(
    removing number: UInt32? = nil, deletingItems: Bool = false,
    keeping sources: [UnlockSource] = [],
    asking ask: (VaultSlot, Int) throws(KeychainError) -> SecretBytes? = {
      (_, _) throws(KeychainError) in nil
    },
    keepingRecipient isKept: (VaultSlot) throws(KeychainError) -> Bool = {
      (_) throws(KeychainError) in false
    },
    confirm: (RekeyPlan) throws(KeychainError) -> Bool,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> RekeyReport {
    let admin = try administration()
    let removal = number.map { RekeyDecision.Removal(number: $0, deletesItems: deletingItems) }
    var secrets = try RekeySecrets(self, admin, removing: number)
    for source in sources { try secrets.present(source) }
    try secrets.ask(ask)
    try secrets.askAboutRecipients(isKept)
    let kept = secrets
    let agreed = try admin.inspect(checkingSlots: false) { change throws(KeychainError) in
      try RekeyDecision(change, admin, kept, removing: removal).plan
    }
    try admin.agree(to: agreed, confirm)
    let rekey = try VaultRekey(admin: admin, progress: progress)
    let decision = try rekey.run { change throws(KeychainError) in
      let decision = try RekeyDecision(change, admin, kept, removing: removal)
      guard decision.plan.staysWithin(agreed) else { throw .slotsChanged }
      return VaultRekey.Decision(
        slots: try decision.slots(under: rekey), result: decision,
        otherDeviceItems: decision.plan.otherDeviceItemCount,
        deletedItems: decision.itemsToDelete.ids)
    }
    report(decision)
    return RekeyReport(plan: decision.plan, check: rekey.newCheck)
  }

  private func report(_ decision: RekeyDecision) {
    if decision.plan.promotesDevice { reportPromotion() }
    for credential in decision.itemsToDelete.credentials {
      observers.notify(CredentialChange(credential.identity, .removed))
    }
  }
}

extension VaultAdministration {
  /// Fails unless a person agrees to what a plan loses.
  fileprivate func agree(
    to plan: RekeyPlan, _ confirm: (RekeyPlan) throws(KeychainError) -> Bool
  ) throws(KeychainError) {
    guard plan.needsAgreement else { return }
    let isConfirmed = try session.deadline.excluding { () throws(KeychainError) in
      try confirm(plan)
    }
    guard isConfirmed else {
      throw KeychainError(.cancelled, "the vault keeps its keys; nothing was changed")
    }
  }
}
