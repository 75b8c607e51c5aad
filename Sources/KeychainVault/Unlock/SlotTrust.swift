internal import KeychainCredentials
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

  /// The identity file that opened it, if it is pinned to vaults, with its name in errors.
  var pinnedFile: (path: String, name: String)?

  /// Adds a check to the identity file, durably: without it, the file would no longer open the vault.
  ///
  /// Removes `old`, so that after a new administration key, copies under the old one are no longer
  /// accepted.
  func pin(_ check: VaultCheck, dropping old: VaultCheck? = nil) throws(KeychainError) {
    guard let pinnedFile else { return }
    try IdentityWriting(pinnedFile.path).pin(check, name: pinnedFile.name) { $0 == old }
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

  /// Opens the first slot that is the vault's: one that was copied from another vault or put back
  /// must not hide the others.
  ///
  /// - Returns: `nil` if all slots need another secret.
  /// - Throws: Why a slot that fits the secret opens nothing, unless another one does.
  func open(
    _ slots: [SlotRow], of head: VaultHead,
    _ unseal: (SlotRow) throws(KeychainError) -> (SlotSealing.Opened, SharedSecret?)?
  ) throws(KeychainError) -> OpenedSlot? {
    var failure: KeychainError?
    for slot in slots {
      do throws(KeychainError) {
        guard let (unsealed, inputKey) = try unseal(slot) else { continue }
        if let opened = try opened(slot, unsealed, of: head, inputKey) { return opened }
        failure = .strangeSlot(slot.number)
      } catch {
        guard error.code == .damaged else { throw error }
        failure = error
      }
    }
    if let failure { throw failure }
    return nil
  }

  /// Opens the first slot of a kind that has an input key.
  func open(
    _ slots: [SlotRow], of head: VaultHead,
    inputKey: (SlotRow) throws(KeychainError) -> SharedSecret
  ) throws(KeychainError) -> OpenedSlot? {
    try open(slots, of: head) { slot throws(KeychainError) in
      let key = try inputKey(slot)
      return try SlotSealing.open(slot, inputKey: key.bytes, vault: head.id).map { ($0, key) }
    }
  }

  /// Returns what a slot yields; `nil` if it is stale: of another epoch, administration key or vault.
  private func opened(
    _ slot: SlotRow, _ opened: SlotSealing.Opened, of head: VaultHead, _ inputKey: SharedSecret?
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

  /// Fails if the slot's secret was last presented under another administration key, for which nothing
  /// here vouches.
  private func requireVouched(_ head: VaultHead, _ slot: SlotRow) throws(KeychainError) {
    guard check == nil else { return }
    if let record = file.seenRecord, record.vouches, try record.leads(to: head) { return }
    let check = try head.check()
    throw KeychainError(
      .rolledBack,
      "the vault was not seen here before, and since its \(slot.kind) was last given, its "
        + "administration key changed; somebody who administered it before could have made this file; "
        + "its check is \(check)",
      recovery: "compare the check with the one on the page with the recovery code, or with what "
        + "\(.status) shows where the vault is used, and give it with \(.giveCheck(check.description))"
    )
  }
}

extension KeychainError {
  static func otherCheck(_ given: VaultCheck, found: VaultCheck) -> Self {
    Self(
      .rolledBack, "the vault's check is \(found), and not \(given)",
      recovery: "put the right file back, or give the check that its administrator shows")
  }
}
