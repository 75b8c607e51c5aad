internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine

/// Accepts a vault that was restored from a backup.
struct AcceptRestoredCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-restored",
    abstract: "Accept a vault that was restored from a backup",
    usage: usage("accept-restored [<options>]"),
    discussion: """
      An older copy of the vault is refused until a person accepts it, and so is one of two copies that \
      were both changed, or one with another administration key. The command first shows how the copy \
      differs from what was seen here last, and every slot that opens it. It asks on a terminal; \
      elsewhere, add --yes.

      A vault with another administration key is followed without a secret that administers it, if --check \
      names its check, compared with what 'status' shows where the vault is used, or with the page of the \
      recovery code.

      If what opens the vault is not what was seen here last, a slot that was removed may be there \
      again. Accepting then takes a secret that administers the vault, and gives it new keys. A slot stays \
      only if it opened the vault for this, is this machine's, or is agreed to: on a terminal each one is \
      asked about; elsewhere --keep-slot names them, and the others are removed.

      Example:
        \(keychainPath) accept-restored
        \(keychainPath) accept-restored --passphrase-file f --keep-slot 3 --yes
      """)

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Keep a slot of another list; may be repeated", valueName: "number"),
    completion: .slots)
  var keepSlot: [UInt32] = []

  @Option(
    help: .init("The check of the vault, as a person compared it", valueName: "hex"),
    transform: VaultCheck.parsed)
  var check: VaultCheck?

  @Flag(name: .shortAndLong, help: "Do not ask, and keep no slot that --keep-slot does not name")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    if let check { session.vault.trust(check) }
    var makesNewKeys = false
    let isAccepted = try session.vault.acceptRestored(
      confirm: { differences throws(KeychainError) in
        for line in RestoredText.lines(of: differences) {
          session.interface.say(line, isAskedAbout: !yes)
        }
        if let missing = keepSlot.first(where: { number in
          !differences.slots.contains { $0.number == number }
        }) {
          throw .noSlot(missing)
        }
        makesNewKeys = differences.makesNewKeys
        // Whoever gives the check has decided.
        let isDecided = yes || check != nil && differences.isRecordAloneChanged
        return try session.confirm(RestoredText.questionToAcceptRestored, assumingYes: isDecided)
      },
      confirmSlot: { slot throws(KeychainError) in try keeps(slot, in: session) })
    session.interface.say(isAccepted ? RestoredText.accepted : RestoredText.nothingToAccept)
    if isAccepted, makesNewKeys, let check = try session.vault.status().check {
      session.interface.say(RestoredText.newKeys(check))
      session.interface.hint(RekeyText.comparing(check))
    }
  }

  /// Returns whether a slot of an older list stays.
  private func keeps(_ slot: VaultSlot, in session: Session) throws(KeychainError) -> Bool {
    guard !keepSlot.contains(slot.number) else { return true }
    if !yes, let prompt = session.prompt,
      try prompt.confirm(RestoredText.questionToKeep(slot))
    {
      return true
    }
    session.interface.say(RestoredText.notKept(slot), isAskedAbout: !yes)
    return false
  }
}
