internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// The slots that get a new root key: those whose secrets were presented, and confirmed recipients.
///
/// Their password hashes are computed here, before the vault is locked for writing.
struct RekeySecrets {
  /// A slot, and the input under which it is sealed again.
  final class Kept: Sendable {
    let slot: SlotRow
    let input: SlotInput

    init(_ slot: SlotRow, _ input: consuming SlotInput) {
      self.slot = slot
      self.input = input
    }
  }

  private let vault: Vault
  let admin: VaultAdministration
  private let removed: UInt32?
  private(set) var kept: [UInt32: Kept] = [:]

  /// The slots of confirmed recipients, by public key.
  ///
  /// A valid mac does not prove that a recipient should stay: whoever has T0 can put back the row
  /// of a removed recipient.
  private(set) var recipients: Set<SlotRow> = []

  /// Starts with the slot that opened the vault.
  ///
  /// The slot `removed` is never kept.
  init(
    _ vault: Vault, _ admin: VaultAdministration, removing removed: UInt32? = nil
  ) throws(KeychainError) {
    self.vault = vault
    self.admin = admin
    self.removed = removed
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

  /// Asks for the passphrases that were not presented.
  ///
  /// A slot without an answer is not kept.
  mutating func ask(
    _ ask: (VaultSlot, Int) throws(KeychainError) -> SecretBytes?
  ) throws(KeychainError) {
    for slot in admin.head.slots(.passphrase)
    where kept[slot.number] == nil && slot.number != removed {
      guard try slot.isMade(byHolderOf: admin.root.bytes) else { continue }
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

  /// Asks about each recipient that did not open the vault itself.
  mutating func askAboutRecipients(
    _ isKept: (VaultSlot) throws(KeychainError) -> Bool
  ) throws(KeychainError) {
    for slot in admin.head.slots(.recipient) where try isOpenToQuestion(slot) {
      let described = slot.described(isThisDevice: nil)
      let answer = try admin.session.deadline.excluding { () throws(KeychainError) in
        try isKept(described)
      }
      if answer { recipients.insert(slot) }
    }
  }

  /// Whether a recipient's slot may stay and is still undecided.
  private func isOpenToQuestion(_ slot: SlotRow) throws(KeychainError) -> Bool {
    guard slot.number != removed, !recipients.contains(slot), slot.recipient?.isUsable ?? false
    else { return false }
    return try slot.isMade(byHolderOf: admin.root.bytes)
  }

  private mutating func keep(
    _ slot: SlotRow, openedBy passphrase: consuming SecretBytes
  ) throws(KeychainError) -> Bool {
    try keep(
      slot,
      openedBy: PresentedSecret(kind: .passphrase, secret: passphrase, source: "the prompt"))
  }

  /// Keeps a slot if the secret that a person typed opens it.
  mutating func keep(
    _ slot: SlotRow, openedBy presented: consuming PresentedSecret
  ) throws(KeychainError) -> Bool {
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
        recovery: .restoreBackup)
    }
  }

  /// Keeps a slot with the secret that opened it; a device slot needs no secret.
  ///
  /// A slot with a wrong mac can open, for example if its number was changed. Such a slot is not
  /// sealed again.
  private mutating func keep(_ opener: OpenedRoot) throws(KeychainError) {
    guard kept[opener.slot.number] == nil, opener.slot.number != removed else { return }
    guard try opener.slot.isMade(byHolderOf: admin.root.bytes) else {
      throw .forgedSlot(
        opener.slot.number,
        recovery:
          "unlock by another slot, which lets this one go, or restore a backup from before it "
          + "appeared")
    }
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
      case .recipient: recipients.insert(opener.slot)
      case .device: break
      }
    }
  }
}
