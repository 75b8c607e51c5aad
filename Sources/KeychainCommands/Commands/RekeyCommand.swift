internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

/// Gives the vault new keys.
struct RekeyCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Give the vault new keys, so that old ones open it no more",
    discussion: """
      Everything is sealed anew, in one step: a failure leaves the vault as it was. Do this when \
      somebody may have a copy of the vault and a passphrase, key or code that opened it once. \
      Such a copy still holds the secrets of its time; change these where they are used.

      Kept are what unlocks the vault now, this machine's device key, recipients, and what is \
      named by --keep-…; on a terminal the other passphrases are asked for. All other slots go, \
      and so do credentials that are bound to other devices: they are listed, and a yes is asked \
      for on a terminal; elsewhere --yes says it. A recipient whose identity was stolen stays, \
      unless 'slots remove' removes it first.

      Example:
        \(keychainPath) rekey
        \(keychainPath) rekey --passphrase-file f --keep-key-file ~/backup/vault.key --yes
      """)

  @OptionGroup(title: "What opens the vault from then on") var kept: KeptSlotOptions

  @Flag(name: .shortAndLong, help: "Let go what cannot be kept, without asking")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func validate() throws {
    if let descriptor = common.unlockDescriptor, kept.keepPassphraseFd.contains(descriptor) {
      throw ValidationError(UserInterface.Usage.keptDescriptorTwice)
    }
  }

  func perform(in session: Session) throws(KeychainError) {
    let wasCached = try session.vault.status().cachedFor != nil
    let report = try session.withProgress { progress throws(KeychainError) in
      try session.vault.rekey(
        keeping: try kept.sources(),
        asking: { slot, failures throws(KeychainError) in
          try passphrase(of: slot, failures, in: session)
        },
        confirm: { plan throws(KeychainError) in try confirm(plan, in: session) },
        progress: progress)
    }
    for line in UserInterface.lines(of: report) { session.interface.say(line) }
    for hint in UserInterface.hints(about: report) { session.interface.hint(hint) }
    if wasCached { session.interface.hint(UserInterface.lockedByNewKeys) }
  }

  /// Asks for a passphrase that is to be kept; without a person, or with none given, it goes.
  private func passphrase(
    of slot: VaultSlot, _ failures: Int, in session: Session
  ) throws(KeychainError) -> SecretBytes? {
    guard let prompt = session.prompt, !yes else { return nil }
    return try prompt.secret(UserInterface.questionToKeep(slot, failures: failures))
  }

  private func confirm(_ plan: RekeyPlan, in session: Session) throws(KeychainError) -> Bool {
    let hasDeviceKey = try session.vault.status().hasDeviceSecret
    for line in UserInterface.losses(of: plan, deviceKeyExists: hasDeviceKey) {
      session.interface.say(line)
    }
    guard yes || session.prompt != nil else { throw .wouldLoseSomething }
    return try session.confirm(UserInterface.questionToRekey, assumingYes: yes)
  }
}
