internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// The slots that can be sealed anew under a new root key, because their secrets were presented.
///
/// Their password hashes are computed here, before the vault is locked for writing.
struct RekeySecrets {
  /// A slot, and what it is sealed under from now on.
  final class Kept: Sendable {
    let slot: SlotRow
    let input: SlotInput

    init(_ slot: SlotRow, _ input: consuming SlotInput) {
      self.slot = slot
      self.input = input
    }
  }

  private let vault: Vault
  private let admin: VaultAdministration
  private(set) var kept: [UInt32: Kept] = [:]

  init(_ vault: Vault, _ admin: VaultAdministration) throws(KeychainError) {
    self.vault = vault
    self.admin = admin
    try keep(admin.opener)
  }

  /// Presents the secret of a source, which must open a slot.
  mutating func present(_ source: UnlockSource) throws(KeychainError) {
    let session = admin.session
    let opened = try session.deadline.excluding { () throws(KeychainError) in
      try vault.unlocker.open(
        vault.unlocker.sources.present(source), admin.head, session.opened.path,
        Deadline(after: vault.configuration.deadline))
    }
    try requireRoot(opened.root.bytes)
    try keep(opened)
  }

  /// Asks for the passphrases that were not presented; the slot of one that is not given is not kept.
  mutating func ask(
    _ ask: (VaultSlot, Int) throws(KeychainError) -> SecretBytes?
  ) throws(KeychainError) {
    for slot in admin.head.slots(.passphrase) where kept[slot.number] == nil {
      for attempt in 0..<3 {
        let described = slot.described(isThisDevice: nil)
        let answer = try admin.session.deadline.excluding { () throws(KeychainError) in
          try ask(described, attempt)
        }
        guard let answer, answer.count > 0 else { break }
        if try keep(slot, openedBy: answer) { break }
        guard attempt < 2 else {
          throw KeychainError(
            .incorrectSecret, "the passphrase does not open slot \(slot.number)")
        }
      }
    }
  }

  private mutating func keep(
    _ slot: SlotRow, openedBy passphrase: consuming SecretBytes
  ) throws(KeychainError) -> Bool {
    let presented = PresentedSecret(kind: .passphrase, secret: passphrase, source: "the prompt")
    let session = admin.session
    let root = try session.deadline.excluding { () throws(KeychainError) in
      try vault.unlocker.open(slot, by: presented, Deadline(after: vault.configuration.deadline))
    }
    guard let root else { return false }
    try requireRoot(root)
    try keep(OpenedRoot(root: SharedSecret(root), slot: slot, presented: presented))
    return true
  }

  private func requireRoot(_ root: borrowing SecretBytes) throws(KeychainError) {
    guard root.isEqual(to: admin.root.bytes) else {
      throw KeychainError(
        .damaged, "a slot of the vault opens, but to another vault's key",
        recovery: "restore a backup")
    }
  }

  /// Keeps a slot by the secret that opened it; a device or a recipient needs none.
  private mutating func keep(_ opener: OpenedRoot) throws(KeychainError) {
    guard kept[opener.slot.number] == nil else { return }
    switch opener.presented {
    case .none: break
    case .some(let presented):
      switch presented.kind {
      case .passphrase:
        kept[opener.slot.number] = Kept(
          opener.slot, try vault.slotInput(passphrase: presented.secret, in: admin.session))
      case .keyFile:
        kept[opener.slot.number] = Kept(opener.slot, try SlotInput.keyFile(presented.secret))
      case .recoveryCode:
        kept[opener.slot.number] = Kept(
          opener.slot, try SlotInput.recoveryCode(bytes: presented.secret))
      case .device, .recipient: break
      }
    }
  }
}
