internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// A slot that was opened, with the key that it gave.
struct OpenedSlot {
  let slot: SlotRow
  let root: SharedSecret
}

/// A root key with what opened it: its slot is the one that a person means, and is sealed anew by it.
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

  /// Adds a check to the identity file that opened the vault, durably, if the file is pinned to vaults:
  /// else it would not open this one any more.
  ///
  /// `old` goes from it: whoever gives the vault new keys does not want copies under the old ones believed.
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
