internal import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesSystem

/// An opened slot of the list of members, with the keys that it gives.
struct OpenedSlot: Sendable {
  let slot: SlotRow

  /// Its entry in the list of members.
  let member: Member
  let list: MemberList

  /// The keys; in a shared vault also the key that signs commits, if the slot may write.
  let keys: TierKeys

  /// The root key; `nil` unless the slot administers.
  let root: SharedSecret?

  /// The key that signs in the name of the slot; `nil` if slots of its kind don't sign.
  let signer: CommitSigner?

  /// The input key from the presented secret; `nil` for an identity.
  let inputKey: SharedSecret?

  /// The identity file that opened it, if it is pinned to vaults, with its name in errors and its
  /// allowed readers.
  var pinnedFile: (path: String, name: String, policy: SecretFilePolicy)?

  /// Adds a check, if one is given, to the identity file, durably, so that it still opens the
  /// vault; removes the `old` one.
  func pin(_ check: VaultCheck?, dropping old: VaultCheck? = nil) throws(KeychainError) {
    guard let pinnedFile else { return }
    try IdentityWriting(pinnedFile.path).pin(
      check, name: pinnedFile.name, policy: pinnedFile.policy
    ) { $0 == old }
  }
}

// MARK: - Opening slots

extension Unlocker {
  /// Opens the first slot that belongs to the vault; `nil` if all need another secret.
  ///
  /// A slot that fits the secret but opens nothing is an error, unless another one opens: it must
  /// not hide the others.
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
      } catch let error where error.code == .damaged {
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

  /// Returns the keys of a slot; `nil` if it is stale: of another epoch, administration key or
  /// vault.
  private func opened(
    _ slot: SlotRow, _ opened: SlotSealing.Opened, of head: VaultHead, _ inputKey: SharedSecret?
  ) throws(KeychainError) -> OpenedSlot? {
    guard opened.binding == head.binding, var keys = try opened.granted.tierKeys(of: head) else {
      return nil
    }
    let list = try file.list(head, keys.open)
    let member = try list.requireListed(slot, openedBy: opened.keys)
    if let compared = configuration.comparedCheck, try head.check() != compared {
      throw .otherCheck(compared, found: try head.check())
    }
    if slot.made != head.administration { try requireVouched(head, slot) }
    let signer = member.signingKey.isEmpty ? nil : opened.keys.signer(slot.number)
    if list.vaultKind == .shared, member.writes { keys.signer = signer }
    return OpenedSlot(
      slot: slot, member: member, list: list, keys: keys, root: opened.granted.root,
      signer: signer, inputKey: inputKey)
  }

  /// Fails if nothing here vouches for the administration key, under which the slot's secret was
  /// not presented.
  private func requireVouched(_ head: VaultHead, _ slot: SlotRow) throws(KeychainError) {
    guard configuration.comparedCheck == nil, try !file.vouches(for: head) else { return }
    let check = try head.check()
    throw KeychainError(
      .rolledBack,
      "the vault was not seen here before, and since its \(slot.kind) was last given, its "
        + "administration key changed; a former administrator could have made this file; its check "
        + "is \(check)",
      recovery:
        "compare the check with the one on the page with the recovery code, or with the one "
        + "that \(.status) shows where the vault is used, and give it with "
        + "\(.giveCheck(check.description))"
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

// MARK: - Kept keys

extension Unlocker {
  /// The slot of this device in a head, without its root key, which is not kept.
  typealias OwnSlot = (head: VaultHead, slot: SlotRow, keys: TierKeys)

  /// Returns the slot of this device, and the keys that it gives without a question, which are
  /// never locked.
  func ownSlot(of head: VaultHead) throws(KeychainError) -> OwnSlot? {
    if let known = knownOwnSlot.withLock({ $0 }), known.head == head { return known }
    guard let found = try openOwnSlot(of: head) else { return nil }
    let known = (head: head, slot: found.slot, keys: found.keys)
    knownOwnSlot.withLock { $0 = known }
    return known
  }

  /// Opens the slot of this device, with its root key if the slot administers.
  func openOwnSlot(of head: VaultHead) throws(KeychainError) -> OpenedSlot? {
    let slots = head.slots(of: .device)
    guard !slots.isEmpty, let device = try state.findSecret() else { return nil }
    return try open(slots, of: head, inputKey: { _ in device.secret })
  }
}

/// Keys that a handle itself was given, until it locks or its idle time ends.
final class HeldKeys: Sendable {
  private let idleTime: UInt64
  private let held = PosixMutex<(keys: TierKeys, limit: UInt64, idleUntil: UInt64)?>(nil)

  init(idleTime: Duration) { self.idleTime = UInt64(max(0, idleTime.wholeNanoseconds)) }

  func hold(_ keys: TierKeys) {
    let now = BootClock.now
    let limit = now + UInt64(UnlockCache.maximumTime.wholeNanoseconds)
    held.withLock { $0 = (keys, limit, now + idleTime) }
  }

  /// Returns the keys, if they belong to the vault as it is now and have not expired.
  func keys(for head: VaultHead) -> TierKeys? {
    held.withLock { held in
      guard let current = held else { return nil }
      guard BootClock.now < min(current.limit, current.idleUntil) else {
        held = nil
        return nil
      }
      return head.owns(current.keys) ? current.keys : nil
    }
  }

  func touch() { held.withLock { $0?.idleUntil = BootClock.now + idleTime } }

  func forget() { held.withLock { $0 = nil } }
}

/// A handle whose calls neither ask nor hash, and its keys; it keeps them because the vault may
/// not: its idle time can be zero.
final class QuietHandle: Sendable {
  let held = HeldKeys(idleTime: UnlockCache.maximumTime)

  /// The error of calls that need something; `nil` to return the need.
  let refusal: KeychainError?

  init(refusal: KeychainError? = nil) { self.refusal = refusal }

  func error(
    _ message: String, _ meet: @escaping @Sendable () throws(KeychainError) -> Void
  ) -> KeychainError { refusal ?? KeychainError(.busy, message, need: Need(meet)) }
}
