internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// A slot that was opened, with the key that it gave.
struct OpenedSlot {
  let slot: SlotRow
  let root: SharedSecret
}

/// A root key with what opened it.
///
/// A change seals the slot again with the same secret.
final class OpenedRoot: Sendable {
  let root: SharedSecret
  let slot: SlotRow

  /// The secret that was presented; `nil` for the device secret.
  let presented: PresentedSecret?

  init(root: SharedSecret, slot: SlotRow, presented: consuming PresentedSecret?) {
    self.root = root
    self.slot = slot
    self.presented = presented
  }

  /// Adds a check to the identity file that opened the vault, durably, if the file is pinned to
  /// vaults.
  ///
  /// Without it, the file would no longer open this one.
  ///
  /// Removes `old`, so that after new keys, copies under the old keys are no longer accepted.
  func pin(_ check: VaultCheck, dropping old: VaultCheck? = nil) throws(KeychainError) {
    switch presented {
    case .none: break
    case .some(let presented):
      guard let path = presented.identityPath, !presented.pins.isEmpty else { return }
      let text = try SecretFile.named(path, name: presented.source, policy: nil)
      try IdentityWriting(path).replace(text, pin: check, dropping: { $0 == old })
    }
  }
}
