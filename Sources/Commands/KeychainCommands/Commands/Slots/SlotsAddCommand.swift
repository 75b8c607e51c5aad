internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainStores
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

      The first passphrase or key file of a vault gives it new keys, since the device key knew the old ones. \
      Everything else that opens the vault stays: the command lists it, and asks on a terminal; elsewhere, \
      add --yes. A shared vault has recipients only; --may says what a new one may do there.

      Example:
        \(keychainPath) slots add --passphrase
        \(keychainPath) slots add --new-key-file ~/backup/vault.key --name backup
        \(keychainPath) slots add --recipient pkpub2-… --name alice --may read
      """)

  @Flag(help: "Add a passphrase, asked for twice unless --new-passphrase-… is given")
  var passphrase = false

  @OptionGroup(title: "What opens the vault") var newPassphrase: NewPassphraseOptions
  @OptionGroup(title: "What opens the vault") var keyFile: NewKeyFileOptions

  @Flag(help: "Add the device key of this machine")
  var device = false

  @Option(
    help: .init(
      "Add whoever has this recipient's identity", valueName: "pkpub2-…"),
    transform: VaultRecipient.init(argument:))
  var recipient: VaultRecipient?

  @Option(
    parsing: .unconditional,
    help: .init("What people call it, such as 'alice'; encrypted", valueName: "name"))
  var name: String?

  @Option(
    help: .init("What the recipient may do in a shared vault (default: write)", valueName: "what"))
  var may: SharedGrant?

  @Flag(name: .shortAndLong, help: "Do not ask before the vault gets new keys")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  private var wantsPassphrase: Bool { passphrase || newPassphrase.isGiven }

  func validate() throws {
    guard [wantsPassphrase, keyFile.isGiven, device, recipient != nil].count(where: { $0 }) == 1
    else {
      throw ValidationError(UsageText.oneSlot)
    }
    guard may == nil || recipient != nil else {
      throw ValidationError(UsageText.grantOfRecipient)
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
      return try vault.addDeviceSlot(name: name ?? "")
    }
    if let recipient { return try add(recipient, in: session) }
    return wantsPassphrase ? try addPassphrase(in: session) : try addKeyFile(in: session)
  }

  private func add(
    _ recipient: VaultRecipient, in session: Session
  ) throws(KeychainError) -> VaultSlot {
    try session.vault.addRecipientSlot(recipient, name: name ?? "", grant: may?.grant)
  }

  private func addPassphrase(in session: Session) throws(KeychainError) -> VaultSlot {
    // Checked before anything else is asked for.
    guard newPassphrase.isGiven || session.prompt != nil else {
      throw .nobodyToAsk(for: .newPassphrase)
    }
    return try session.withProgress { progress throws(KeychainError) in
      try session.vault.addPassphraseSlot(
        name: name ?? "",
        confirm: { plan throws(KeychainError) in try session.agrees(to: plan, assumingYes: yes) },
        progress: progress
      ) { () throws(KeychainError) in try session.newPassphrase(newPassphrase) }
    }
  }

  private func addKeyFile(in session: Session) throws(KeychainError) -> VaultSlot {
    try keyFile.withKeyFile(readers: session.vault.secretFileReaders()) {
      path throws(KeychainError) in
      guard let path else { throw .noKeyFile }
      return try session.withProgress { progress throws(KeychainError) in
        try session.vault.addKeyFileSlot(
          path: path, name: name ?? "",
          confirm: { plan throws(KeychainError) in try session.agrees(to: plan, assumingYes: yes) },
          progress: progress)
      }
    }
  }
}
