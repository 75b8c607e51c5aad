internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import Synchronization

/// A listed slot that was opened, with the keys that it yields.
struct OpenedSlot: Sendable {
  let slot: SlotRow

  /// Its entry in the list of members.
  let member: Member
  let list: MemberList

  /// The keys; in a shared vault with what signs commits, if the slot may write.
  let keys: TierKeys

  /// The root key; `nil` unless the slot administers.
  let root: SharedSecret?

  /// What signs in the name of the slot; `nil` if its kind signs nothing.
  let signer: CommitSigner?

  /// What the presented secret gave; `nil` for an identity.
  let inputKey: SharedSecret?
}

/// A slot that was opened, with what opened it.
final class SlotOpener: Sendable {
  let opened: OpenedSlot

  /// The secret that was presented; `nil` for the device secret.
  let presented: PresentedSecret?

  init(_ opened: OpenedSlot, presented: consuming PresentedSecret?) {
    self.opened = opened
    self.presented = presented
  }

  /// Adds a check to the identity file that opened the vault, durably, if the file is pinned to
  /// vaults.
  ///
  /// Without it, the file would no longer open this one.
  ///
  /// Removes `old`, so that after a new administration key, copies under the old one are no longer
  /// accepted.
  func pin(_ check: VaultCheck, dropping old: VaultCheck? = nil) throws(KeychainError) {
    switch presented {
    case .none: break
    case .some(let presented):
      guard let path = presented.path, !presented.pins.isEmpty else { return }
      try IdentityWriting(path).pin(check, name: presented.source, dropping: { $0 == old })
    }
  }
}

/// Decides whether what a slot opened to is the vault's.
final class SlotTrust: Sendable {
  let file: VaultFile
  private let compared = Mutex<VaultCheck?>(nil)

  init(_ file: VaultFile) { self.file = file }

  /// What a person compared; `nil` if nobody did.
  var check: VaultCheck? {
    get { compared.withLock { $0 } }
    set { compared.withLock { $0 = newValue } }
  }

  /// - Returns: `nil` if the slot is stale: of another epoch, administration key or vault.
  /// - Throws: ``KeychainError/Code/damaged`` if the list does not have it; ``KeychainError/Code/rolledBack`` if its secret was last presented
  ///   under another administration key, for which nothing here vouches.
  func opened(
    _ slot: SlotRow, _ opened: SlotSealing.Opened, of head: VaultHead, inputKey: SharedSecret?
  ) throws(KeychainError) -> OpenedSlot? {
    guard opened.binding == head.binding, var keys = try opened.granted.tierKeys(of: head) else {
      return nil
    }
    let list = try file.list(head, keys.open)
    let member = try list.requireListed(slot, openedBy: opened.keys)
    if let check, try head.check() != check { throw .otherCheck(check, found: try head.check()) }
    if slot.made != head.administration { try requireVouched(head, slot) }
    let signer = member.signingKey.isEmpty ? nil : opened.keys.signer(slot.number)
    if list.vaultKind == .shared, member.writes { keys.signer = signer }
    return OpenedSlot(
      slot: slot, member: member, list: list, keys: keys, root: opened.granted.root,
      signer: signer, inputKey: inputKey)
  }

  private func requireVouched(_ head: VaultHead, _ slot: SlotRow) throws(KeychainError) {
    guard check == nil else { return }
    if let record = file.seenRecord, record.vouches, try record.leads(to: head) { return }
    throw .notVouched(slot.kind, try head.check())
  }
}

extension KeychainError {
  fileprivate static func notVouched(_ kind: SlotKind, _ check: VaultCheck) -> Self {
    Self(
      .rolledBack,
      "the vault was not seen here before, and since its \(kind) was last given, its administration key "
        + "changed; somebody who administered it before could have made this file; its check is \(check)",
      recovery: "compare the check with the one on the page with the recovery code, or with what "
        + "\(.status) shows where the vault is used, and give it with \(.giveCheck(check.description))"
    )
  }

  static func otherCheck(_ given: VaultCheck, found: VaultCheck) -> Self {
    Self(
      .rolledBack, "the vault's check is \(found), and not \(given)",
      recovery: "put the right file back, or give the check that its administrator shows")
  }
}
