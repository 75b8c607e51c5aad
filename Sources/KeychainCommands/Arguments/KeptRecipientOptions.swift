internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainTerminal
internal import KeychainVault

/// The recipients that get a new root key.
struct KeptRecipientOptions: ParsableArguments {
  @Option(
    parsing: .unconditionalSingleValue,
    help: .init(
      "Keep a recipient, as 'slots list' shows it; may be repeated", valueName: "pkpub1-…"),
    transform: VaultRecipient.init(argument:))
  var keepRecipient: [VaultRecipient] = []

  /// Fails if a given recipient has no slot.
  func requireSlots(in vault: Vault) throws(KeychainError) {
    guard !keepRecipient.isEmpty else { return }
    let recipients = Set(try vault.slots().compactMap(\.recipient))
    if let missing = keepRecipient.first(where: { !recipients.contains($0) }) {
      throw .noSlot(of: missing)
    }
  }

  /// Returns whether a recipient can still open the vault: it is given, or the person agrees.
  func keeps(
    _ slot: VaultSlot, asking prompt: TerminalPrompt?
  ) throws(KeychainError) -> Bool {
    if let recipient = slot.recipient, keepRecipient.contains(recipient) { return true }
    guard let prompt else { return false }
    return try prompt.confirm(Questions.questionToKeepRecipient(slot))
  }
}

extension VaultRecipient {
  /// Reads an argument.
  init(argument text: String) throws {
    do throws(KeychainError) {
      self = try VaultRecipient(text: text)
    } catch {
      throw ValidationError(error.message)
    }
  }
}
