internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Gives the vault a new root key, and seals everything again, in one transaction.
  ///
  /// The old root key then opens nothing more of this vault, nor does any removed slot, changed
  /// passphrase, or copy of the vault. Earlier copies keep their contents: change important secrets
  /// where they are used. If the call fails or the process ends, the vault is unchanged.
  ///
  /// Every slot of the signed list of members gets the new key, and no secret is needed for that.
  /// `confirm` receives their names and fingerprints: compare them. Slots in the file that the list
  /// does not have are removed, and items that are bound to other devices are lost. If no passphrase,
  /// key file or recipient is left, this machine's device slot opens everything. Keys that were
  /// cached for other programs are removed.
  ///
  /// The administration key changes if a slot that administers is removed, because whoever had it
  /// knows the key. The vault then has a new check. Whoever has seen the vault or is pinned to it
  /// follows the change by itself only if a recovery code that stays opened the vault for this call;
  /// others compare the check.
  ///
  /// - Parameters:
  ///   - number: The number of a slot that is removed in the same transaction; `nil` to remove no
  ///     slot.
  ///   - deletingItems: Whether items that need a passphrase are deleted if no passphrase is kept.
  ///   - newAdministrationKey: Whether the administration key changes in any case.
  ///   - droppingDamaged: Whether items that don't open are deleted; else they are an error.
  ///   - confirm: Receives what stays and what is lost. Return `false` to change nothing.
  ///   - progress: Called from time to time with the progress of the work.
  /// - Returns: What was done.
  /// - Throws: ``KeychainError``, as ``addPassphraseSlot(_:name:confirm:progress:)``. Also
  ///   ``KeychainError/Code/cancelled`` if `confirm` returns `false`,
  ///   ``KeychainError/Code/refused`` if nothing would be left that administers the vault, if the
  ///   slot opened this shared vault, or if items need a passphrase and none is kept,
  ///   ``KeychainError/Code/notFound`` if the slot to remove does not exist, or
  ///   ``KeychainError/Code/busy`` if slots were changed meanwhile.
  @discardableResult
  public func rekey(
    removing number: UInt32? = nil, deletingItems: Bool = false,
    newAdministrationKey: Bool = false, droppingDamaged: Bool = false,
    confirm: (RekeyPlan) throws(KeychainError) -> Bool,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> RekeyReport {
    let outcome = try rekey(
      .init(
        removed: number.map { [$0] } ?? [], deletesItems: deletingItems,
        newAdministrationKey: newAdministrationKey, dropsDamaged: droppingDamaged),
      confirm, progress)
    return RekeyReport(plan: outcome.decision.plan, check: outcome.check)
  }

  func rekey(
    _ request: RekeyDecision.Request, _ confirm: (RekeyPlan) throws(KeychainError) -> Bool,
    _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> VaultRekey.Outcome {
    let admin = try administration()
    let agreed = try admin.inspect { change throws(KeychainError) in
      try RekeyDecision(change, request).plan
    }
    try admin.requireAgreement(to: agreed, confirm)
    let outcome = try VaultRekey(admin: admin, progress: progress).run {
      change throws(KeychainError) in
      let decision = try RekeyDecision(change, request)
      guard decision.plan.staysWithin(agreed) else { throw .slotsChanged }
      return decision
    }
    report(outcome.decision)
    return outcome
  }

  private func report(_ decision: RekeyDecision) {
    if decision.plan.promotesDevice { reportPromotion() }
    for credential in decision.itemsToDelete.credentials {
      observers.notify(CredentialChange(credential.identity, .removed))
    }
  }
}

extension VaultAdministration {
  /// Fails unless a person agrees to a plan.
  func requireAgreement(
    to plan: RekeyPlan, _ confirm: (RekeyPlan) throws(KeychainError) -> Bool
  ) throws(KeychainError) {
    let isConfirmed = try session.deadline.excluding { () throws(KeychainError) in
      try confirm(plan)
    }
    guard isConfirmed else {
      throw KeychainError(.cancelled, "the vault keeps its keys; nothing was changed")
    }
  }
}
