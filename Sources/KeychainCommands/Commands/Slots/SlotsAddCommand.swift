internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainTerminal
internal import KeychainVault
internal import PrephirencesCommandLine

/// Adds a way to open the vault.
struct SlotsAddCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a way to open the vault",
    discussion: """
      The options --passphrase-fd, --passphrase-file, --key-file and --identity unlock the vault as \
      it is; what opens it from now on is given by the options below. A recovery code is made by \
      'recovery create'.

      The first passphrase or key file of a vault gives it new keys. To keep a recovery code, type it on a \
      terminal, or give it with --recovery-code-file. To keep a recipient, name it with --keep-recipient, \
      or agree on a terminal. Remove other slots first, with 'slots remove'.

      Example:
        \(keychainPath) slots add --passphrase
        \(keychainPath) slots add --new-key-file ~/backup/vault.key
        \(keychainPath) slots add --recipient "$(ssh colleague \(keychainPath) identity create)"
      """)

  @Flag(help: "Add a passphrase, asked for twice unless --new-passphrase-… is given")
  var passphrase = false

  @OptionGroup(title: "What opens the vault") var newPassphrase: NewPassphraseOptions
  @OptionGroup(title: "What opens the vault") var keyFile: NewKeyFileOptions

  @Flag(help: "Add the device key of this machine")
  var device = false

  @Option(
    help: .init(
      "Add whoever has this recipient's identity", valueName: "pkpub1-…"),
    transform: VaultRecipient.init(argument:))
  var recipient: VaultRecipient?

  @OptionGroup(title: "What the first passphrase or key file keeps")
  var kept: KeptRecipientOptions

  @OptionGroup(title: "Common options") var common: CommonOptions

  private var wantsPassphrase: Bool { passphrase || newPassphrase.isGiven }

  func validate() throws {
    guard [wantsPassphrase, keyFile.isGiven, device, recipient != nil].count(where: { $0 }) == 1
    else {
      throw ValidationError(UsageText.oneSlot)
    }
    guard kept.keepRecipient.isEmpty || wantsPassphrase || keyFile.isGiven else {
      throw ValidationError(UsageText.keptByFirstSecret)
    }
    if let descriptor = newPassphrase.newPassphraseFd, descriptor == common.unlockDescriptor {
      throw ValidationError(UsageText.descriptorTwice)
    }
  }

  func perform(in session: Session) throws(KeychainError) {
    let wasOpen = try session.vault.status().readable == .unlockedNow
    let slot = try add(in: session)
    session.interface.say(SlotText.added(slot))
    // The first passphrase or key file removes most of the access that the device key gives.
    if wasOpen, try session.vault.status().readable != .unlockedNow {
      session.interface.hint(SlotText.lockedNow(by: slot))
    }
    if slot.kind == .recipient, let check = try session.vault.status().check {
      session.interface.hint(IdentityText.toPin(check))
    }
  }

  private func add(in session: Session) throws(KeychainError) -> VaultSlot {
    let vault = session.vault
    if device {
      return try session.withProgress { progress throws(KeychainError) in
        try vault.addDeviceSlot(progress: progress)
      }
    }
    if let recipient {
      return try session.withProgress { progress throws(KeychainError) in
        try vault.addRecipientSlot(recipient, progress: progress)
      }
    }
    try kept.requireSlots(in: vault)
    return wantsPassphrase ? try addPassphrase(in: session) : try addKeyFile(in: session)
  }

  private func addPassphrase(in session: Session) throws(KeychainError) -> VaultSlot {
    // Checked before anything else is asked for.
    guard newPassphrase.isGiven || session.prompt != nil else {
      throw .nobodyToAsk(for: .newPassphrase)
    }
    return try session.withProgress { progress throws(KeychainError) in
      try session.vault.addPassphraseSlot(
        askingForCode: session.questionForKeptCode,
        keepingRecipient: { slot throws(KeychainError) in
          try kept.keeps(slot, asking: session.prompt)
        }, progress: progress
      ) { () throws(KeychainError) in try session.newPassphrase(newPassphrase) }
    }
  }

  private func addKeyFile(in session: Session) throws(KeychainError) -> VaultSlot {
    try keyFile.withKeyFile { path throws(KeychainError) in
      guard let path else { throw .noKeyFile }
      return try session.withProgress { progress throws(KeychainError) in
        try session.vault.addKeyFileSlot(
          path: path, askingForCode: session.questionForKeptCode,
          keepingRecipient: { slot throws(KeychainError) in
            try kept.keeps(slot, asking: session.prompt)
          }, progress: progress)
      }
    }
  }
}

extension Session {
  /// Asks for a recovery code that should get new keys; `nil` if nobody can be asked.
  fileprivate var questionForKeptCode: ((VaultSlot, Int) throws(KeychainError) -> SecretBytes?)? {
    guard let prompt else { return nil }
    return { slot, failures throws(KeychainError) in
      try prompt.secret(SlotText.questionToKeepCode(slot, failures: failures))
    }
  }
}
