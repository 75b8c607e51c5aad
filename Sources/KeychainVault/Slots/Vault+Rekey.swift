internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Gives the vault a new root key, and seals everything anew, in one transaction.
  ///
  /// The old root key, and with it every removed or changed passphrase and every copy of the vault, then
  /// opens nothing more of this vault. Copies made before hold what they held: secrets that matter must be
  /// changed where they are used. A failure, or the end of the process, leaves the vault as it was.
  ///
  /// Kept are: the slot that opens the vault now, those whose secrets are presented, this device's, and
  /// those of recipients that `isKept` agrees to, whose identities must be pinned anew if they are pinned.
  /// Other slots go, and so do items that are bound to other devices. If neither a passphrase, a key file
  /// nor a recipient is kept, this machine's device slot opens everything from then on, as after
  /// ``removeSlot(_:deletingItems:progress:)``. Keys that were cached for other programs are forgotten.
  ///
  /// A recipient needs a yes, although its identity is not presented: whoever had the vault's keys
  /// once, as a removed recipient did, can put a slot into the file that looks like the vault's own. Only
  /// the public key tells whose it is.
  ///
  /// - Parameters:
  ///   - number: The number of a slot that is removed in the same transaction, so that nothing in the
  ///     file opens by it afterwards, nor under the old root key; `nil` for none.
  ///   - deletingItems: Whether items that need a passphrase are deleted if a slot is removed and no
  ///     passphrase is kept.
  ///   - sources: Secrets whose slots are kept beside the one that opens the vault now.
  ///   - ask: Is told a passphrase slot whose secret was not presented, and how many answers were
  ///     wrong before, and returns the passphrase, or `nil` to let the slot go.
  ///   - isKept: Is told the slot of a recipient, and returns whether it goes on to open the vault;
  ///     none does unless this is given.
  ///   - confirm: Is shown the plan if anything goes that is not the removed slot itself, or this
  ///     machine's device slot gets to open everything; `false` leaves everything as it is.
  ///   - progress: Is told now and then how far the work has come.
  /// - Returns: What was done.
  /// - Throws: ``KeychainError``, as every change of slots: with ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if a secret opens nothing, with ``KeychainError/Code/damaged``
  ///   if the vault is not intact, or what opens it, or is presented, does so by a slot that no holder of
  ///   the root key made; also with ``KeychainError/Code/cancelled`` if `confirm` says no,
  ///   ``KeychainError/Code/refused`` if nothing would be left that opens the vault, or items need a
  ///   passphrase and none is kept, ``KeychainError/Code/notFound`` if there is no slot to remove, or
  ///   ``KeychainError/Code/busy`` if slots were changed meanwhile.
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
        otherDeviceItems: decision.plan.otherDeviceItemCount, deletedItems: decision.doomed.ids)
    }
    tell(decision)
    return RekeyReport(plan: decision.plan, check: rekey.newCheck)
  }

  private func tell(_ decision: RekeyDecision) {
    if decision.plan.promotesDevice { tellPromotion() }
    for credential in decision.doomed.credentials {
      observers.notify(CredentialChange(credential.identity, .removed))
    }
  }
}

extension VaultAdministration {
  /// Fails unless somebody agrees to what a plan loses.
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
