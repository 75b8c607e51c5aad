internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

struct UnlockCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Unlock the vault for the commands that follow",
    usage: usage("unlock [<options>]"),
    discussion: """
      The vault stays unlocked while it is used, until 15 minutes pass without use, and 12 hours \
      at most; with --timeout, for that time, used or not, which is written with its unit (30s, \
      30m). The key lies in the kernel's keyring, not in a file. Most containers deny that: there, \
      give each command what unlocks the vault.

      A vault that was never seen here may ask for its check, if its administration key changed \
      since its passphrase or code was last given: compare the check with the page of the recovery \
      code, or with what 'status' shows where the vault is used.

      Example:
        \(keychainPath) unlock --timeout 1h
      """)

  @Option(
    help: .init("How long it stays unlocked: 90s, 30m, 8h", valueName: "time"),
    transform: DurationText.argument)
  var timeout: Duration?

  @Option(
    help: .init("The check of the vault, as a person compared it", valueName: "hex"),
    transform: VaultCheck.parsed)
  var check: VaultCheck?

  @OptionGroup(title: "Common options") var common: CommonOptions

  static func usageHint(for message: String, hasUnknownDash: Bool) -> String? {
    message.lowercased().contains("unexpected argument")
      ? "the passphrase is asked for, or read with --passphrase-file" : nil
  }

  func perform(in session: Session) throws {
    let vault = try session.vault
    try (check.map(vault.trusting) ?? vault).unlock(timeout: timeout)
  }
}

struct LockCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Lock the vault, for running programs too",
    usage: usage("lock [<options>]"),
    discussion: """
      Credentials of the accessibility afterFirstUnlock stay readable until the next boot, unless \
      --all is given. The keys are forgotten even if the vault is gone or changed.

      Example:
        \(keychainPath) lock --all
      """)

  @Flag(help: "Also lock what one unlock opens until the next boot")
  var all = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    let wasSeen = try session.vault.lockWhatWasSeen(all: all)
    let status: VaultStatus
    do {
      status = try session.vault.status()
    } catch {
      throw wasSeen ? error.afterForgettingKeys : error
    }
    if !status.exists {
      session.interface.hint(
        wasSeen
          ? VaultText.lockedAndGone(status.path) : VaultText.nothingToLock(status.path))
    } else if status.readable == .unlockedNow {
      session.interface.hint(VaultText.staysUnlocked)
    }
  }
}

/// Shows a summary of the vault's state.
struct StatusCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show whether the vault exists, and what is readable",
    usage: usage("status [<options>]"),
    discussion: """
      Nothing is asked and nothing is changed; 'doctor' shows more. A vault that is refused, as it \
      is not the one that was seen here, shows no check, no witness and no names, and the command \
      fails.

      Example:
        \(keychainPath) status --json
      """)

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    let status = try session.vault.status()
    let problem = try session.vault.sourceProblem()
    if json {
      try session.output.write(json: VaultText.json(of: status, sourceProblem: problem))
    } else {
      try session.output.write(facts: VaultText.facts(of: status, sourceProblem: problem))
    }
    session.hintAtMissingVault()
    if let failure = status.seenFailure { throw failure }
  }
}

/// Checks the whole vault.
struct VerifyCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check everything in the vault",
    usage: usage("verify [<options>]"),
    discussion: """
      Damage is found without unlocking. What is unlocked is also opened, and proved against \
      somebody who has the device key; the command reports how much was unlocked. A damaged \
      credential is shown with its id, which 'compact --drop' deletes. Nothing is changed.

      Example:
        \(keychainPath) verify && \(keychainPath) backup /backup/vault
      """)

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    let report = try session.withProgress { progress in
      try session.vault.verify(progress: progress)
    }
    try session.output.write(json ? CommandOutput.json(report) : VaultText.summary(of: report))
    for remark in VaultText.remarks(on: report) { session.interface.say(remark) }
    for problem in report.problems { session.interface.error(problem) }
    guard report.isIntact else { throw KeychainError.notIntact(report.problems.count) }
  }
}

/// Rewrites the vault's file.
struct CompactCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Remove from the vault's file what was replaced or deleted",
    usage: usage("compact [<options>]"),
    discussion: """
      What is replaced or deleted stays in the file, sealed, until the file is rewritten: at once \
      in vaults of less than 1 MiB, else when the file has grown, or by this command. Backups and \
      copies that were made before still have it.

      --drop also deletes a credential by the id that 'verify' shows, even if it does not open.

      Example:
        \(keychainPath) compact
        \(keychainPath) compact --drop 0123456789ab
      """)

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Also delete the item with this id; may be repeated", valueName: "id"))
  var drop: [String] = []

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    try session.vault.compact(dropping: drop)
  }
}

/// Copies the vault while it is in use.
struct BackupCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the vault while it is in use",
    usage: usage("backup [<options>] <file>"),
    discussion: """
      The copy is a vault, encrypted like the original and opened by the same slots; it is read \
      again and verified. With --replace, the complete new backup replaces an older one of the \
      same vault in one step; any other file is kept. It is written under the added name .new \
      first, which must be free. '-' writes to standard output, after the copy was verified.

      Examples:
        \(keychainPath) backup /backup/vault
        \(keychainPath) backup /backup/vault --replace
      """)

  @Argument(help: "The file to create, or - for standard output", completion: .file())
  var file: String

  @Flag(help: "Replace an older backup of the same vault")
  var replace = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  private var isToDescriptor: Bool { file == "-" || DescriptorPath.number(file) != nil }

  func validate() throws {
    guard !replace || !isToDescriptor else { throw ValidationError(UsageText.replacesFile) }
  }

  func perform(in session: Session) throws {
    let output = try output(session.console)
    let report = try session.withProgress { progress in
      if let output {
        try session.vault.backup(toFileDescriptor: output, progress: progress)
      } else {
        try session.vault.backup(to: file, replacing: replace, progress: progress)
      }
    }
    session.interface.say(VaultText.summary(of: report, file: file == "-" ? nil : file))
    if report.deviceItemCount > 0 {
      session.interface.say(VaultText.boundToDevice(report.deviceItemCount))
    }
    session.reportKeyring()
    if report.needsThisDevice { session.interface.hint(VaultText.backupNeedsThisDevice) }
  }

  /// Returns the descriptor that the file names after checking that it can be written to.
  private func output(_ console: Console) throws -> Int32? {
    if file == "-" {
      guard !console.output.isTerminal else { throw KeychainError.backupToTerminal }
      try console.output.checkOpen()
      return console.output.descriptor
    }
    guard let output = DescriptorPath.number(file) else { return nil }
    guard isatty(output) == 0 else { throw KeychainError.backupToTerminal }
    guard StandardDescriptors.wasOpen(output) else {
      throw KeychainError.cannotWrite(file, errno: EBADF)
    }
    return output
  }
}

/// Replaces a passphrase.
struct ChangePassphraseCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "change-passphrase",
    abstract: "Replace a passphrase by another",
    discussion: """
      The present passphrase is asked for first, also while the vault is unlocked. If it is \
      forgotten, type the recovery code instead, or unlock with something else, such as \
      --key-file. Older copies of the vault still open with the old passphrase; after 'rekey \
      --new-administration-key', their keys are worth nothing for this vault.

      Example:
        \(keychainPath) change-passphrase
        \(keychainPath) change-passphrase --key-file ~/backup/vault.key --slot 2
      """)

  @Option(
    help: .init(
      "The slot, as 'slots list' shows it (default: the one that the passphrase opens, or the only "
        + "one)",
      valueName: "number"),
    completion: .passphraseSlots)
  var slot: UInt32?

  @OptionGroup(title: "The new passphrase") var newPassphrase: NewPassphraseOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  func validate() throws {
    if let descriptor = newPassphrase.newPassphraseFd, descriptor == common.unlockDescriptor {
      throw ValidationError(UsageText.descriptorTwice)
    }
  }

  func perform(in session: Session) throws {
    // Checked before asking for the present passphrase.
    guard newPassphrase.isGiven || session.prompt != nil else {
      throw KeychainError.nobodyToAsk(for: .newPassphrase)
    }
    let changed = try session.vault.changePassphrase(slot: slot) { _ throws(KeychainError) in
      try session.newPassphrase(newPassphrase)
    }
    session.interface.say(VaultText.changedPassphrase(changed))
    session.interface.hint(VaultText.copiesKeepThePassphrase)
  }
}

extension Session {
  /// The vault's status after a change; a failure is reported, but is not a failure of the change.
  func statusAfterChange() -> VaultStatus? {
    do throws(KeychainError) { return try vault.status() } catch {
      interface.say(VaultText.changedButUnread(error))
      return nil
    }
  }
}
