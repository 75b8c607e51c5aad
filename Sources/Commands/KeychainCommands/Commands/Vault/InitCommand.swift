internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine

/// Creates a vault.
struct InitCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Create a vault, and choose what opens it",
    discussion: """
      The device key of this machine opens the vault unless --no-device is given. In a vault made \
      with a passphrase, a key file or an identity, the device key alone reads only what needs no \
      unlock. On a terminal, and without options, a passphrase is asked for; an empty one means \
      none. Elsewhere nothing is asked.

      With --shared, several people or services use the vault, each with an identity of their own, \
      and every change is signed by who made it. The identity of --identity administers it. A \
      recovery code does so, too: it is shown once, and must be typed in; without a terminal, \
      --code-file writes it to a new file. Passphrases, key files and device keys do not open such \
      a vault.

      Example:
        \(keychainPath) init --passphrase
        \(keychainPath) init --shared --identity ~/.config/keychain/identity --vault /srv/team.db
      """)

  @Flag(
    help: "Protect the vault by a passphrase, asked for twice unless --new-passphrase-… is given")
  var passphrase = false

  @OptionGroup(title: "What opens the vault") var newPassphrase: NewPassphraseOptions
  @OptionGroup(title: "What opens the vault") var keyFile: NewKeyFileOptions

  @Flag(help: "Make a vault that several identities use, and that signs who changed it")
  var shared = false

  @Option(
    help: .init("Write the recovery code of a shared vault to a new file", valueName: "path"),
    completion: .file())
  var codeFile: String?

  @Option(
    parsing: .unconditional,
    help: .init("What people call the identity in a shared vault; encrypted", valueName: "name"))
  var name: String?

  @Flag(help: "Do not let this machine's device key open the vault")
  var noDevice = false

  @Flag(help: "Create a new vault although one was seen here before and is gone")
  var startAnew = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  private var wantsPassphrase: Bool { passphrase || newPassphrase.isGiven }

  func validate() throws {
    if shared {
      guard !wantsPassphrase, !keyFile.isGiven, common.identity != nil else {
        throw ValidationError(UsageText.sharedByIdentity)
      }
    } else if codeFile != nil || name != nil {
      throw ValidationError(UsageText.codeFileOfShared)
    }
    if noDevice && !wantsPassphrase && !keyFile.isGiven && common.identity == nil {
      throw ValidationError(UsageText.nothingOpens)
    }
    if common.hasUnlockSource { throw ValidationError(UsageText.nothingToUnlock) }
  }

  func perform(in session: Session) throws {
    if shared { return try createShared(in: session) }
    let startsAnew = try startsAnew(session)
    guard try !usesSourcesAtHand(session) else {
      try session.vault.create(startingAnew: startsAnew)
      sayMade(in: session)
      return
    }
    let chosen = try chosenPassphrase(session)
    try keyFile.withKeyFile(readers: session.secretFileReaders) { path in
      try session.vault.create(
        passphrase: chosen, keyFile: path, identityFile: common.identity, device: !noDevice,
        startingAnew: startsAnew)
    }
    sayMade(in: session)
  }

  private func createShared(in session: Session) throws {
    guard let identity = common.identity else { throw KeychainError.noIdentity }
    let shown = ShownRecoveryCode(file: codeFile)
    try shown.requireReader(in: session)
    let startsAnew = try startsAnew(session)
    try shown.confirmed(in: session) { confirm in
      try session.vault.createShared(
        identityFile: identity, name: name ?? "", startingAnew: startsAnew, confirmingCode: confirm)
    }
    sayMade(in: session)
    if let codeFile { session.interface.hint(RecoveryCodeText.writtenCode(codeFile)) }
    session.interface.hint(RecoveryCodeText.writing(session.statusAfterChange()?.check))
    session.interface.hint(VaultText.addMembers)
    session.interface.hint(IdentityText.toPin(identity))
  }

  private func sayMade(in session: Session) {
    guard let status = session.statusAfterChange() else { return }
    session.interface.say(VaultText.made(status))
    if status.fullSlots.allSatisfy({ $0.kind == .device }) {
      session.interface.hint(VaultText.deviceKeyAlone)
    }
  }

  /// Whether to abandon a missing vault; asks a person if possible.
  private func startsAnew(_ session: Session) throws -> Bool {
    let status = try session.vault.status()
    // Nobody should choose a passphrase for a vault that cannot be created.
    guard !status.exists else { throw KeychainError.vaultExists(status.path) }
    guard status.wasSeen else { return false }
    guard startAnew || session.prompt != nil else { return false }
    guard try session.confirm(VaultText.questionToStartAnew, assumingYes: startAnew) else {
      throw KeychainError.notConfirmed
    }
    return true
  }

  /// Whether to add slots for the sources in the environment.
  ///
  /// Every later command tries these sources, and would fail if they did not open the vault. So
  /// they get slots unless something else is chosen.
  private func usesSourcesAtHand(_ session: Session) throws -> Bool {
    try !wantsPassphrase && !keyFile.isGiven && !noDevice && session.vault.hasUnlockSource
  }

  private func chosenPassphrase(_ session: Session) throws -> SecretBytes? {
    if wantsPassphrase { return try session.newPassphrase(newPassphrase) }
    guard session.prompt != nil, !keyFile.isGiven, common.identity == nil else { return nil }
    let answer = try session.askTwice(for: .optionalPassphrase)
    guard answer.count > 0 else { return nil }
    return answer
  }
}
