internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// A listed slot that was opened, with the keys that it yields.
struct OpenedSlot: Sendable {
  let slot: SlotRow

  /// Its entry in the list of members.
  let member: Member
  let list: MemberList

  /// The keys; in a shared vault with what signs states, if the slot may write.
  let keys: TierKeys

  /// The root key; `nil` unless the slot administers.
  let root: SharedSecret?

  /// What signs in the name of the slot; `nil` if its kind signs nothing.
  let signer: StateSigner?
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
