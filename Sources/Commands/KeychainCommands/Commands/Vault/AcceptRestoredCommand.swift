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
      An older copy of the vault is refused until a person accepts it, and so is one of two copies \
      that were both changed, or one with another administration key. The command first shows how \
      the copy differs from what was seen here last, and every slot that opens it. It asks on a \
      terminal; elsewhere, add --yes.

      A vault with another administration key is followed without a secret that administers it, if \
      --check names its check, compared with what 'status' shows where the vault is used, or with \
      the page of the recovery code.

      If what opens the vault is not what was seen here last, a slot that was removed may be there \
      again. Accepting then takes a secret that administers the vault, and gives it new keys. A \
      slot stays only if it opened the vault for this, is this machine's, or is agreed to: on a \
      terminal each one is asked about; elsewhere --keep-slot names them, and the others are \
      removed. Credentials that do not open are listed, and are lost with the old keys.

      Example:
        \(keychainPath) accept-restored
        \(keychainPath) accept-restored --passphrase-file f --keep-slot 3 --yes
      """)

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Keep a slot of another list; may be repeated", valueName: "number"),
    completion: .vaultSlots)
  var keepSlot: [UInt32] = []

  @Option(
    help: .init("The check of the vault, as a person compared it", valueName: "hex"),
    transform: VaultCheck.parsed)
  var check: VaultCheck?

  @Flag(name: .shortAndLong, help: "Do not ask, and keep no slot that --keep-slot does not name")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    let vault = try session.vault
    var makesNewKeys = false
    let isAccepted = try (check.map(vault.trusting) ?? vault).acceptRestored(
      confirm: { differences throws(KeychainError) in
        for line in RestoredText.lines(of: differences) {
          session.interface.say(line, isAskedAbout: !yes)
        }
        if let missing = keepSlot.first(where: { number in
          !differences.slots.contains { $0.number == number }
        }) {
          throw KeychainError.noSlot(missing)
        }
        makesNewKeys = differences.makesNewKeys
        // A person who gives the check has decided.
        let isDecided = yes || check != nil && differences.isRecordAloneChanged
        return try session.confirm(RestoredText.questionToAcceptRestored, assumingYes: isDecided)
      },
      confirmSlot: { slot throws(KeychainError) in try keeps(slot, in: session) })
    session.interface.say(isAccepted ? RestoredText.accepted : RestoredText.nothingToAccept)
    if isAccepted, makesNewKeys, let check = session.statusAfterChange()?.check {
      session.interface.say(RestoredText.newKeys(check))
      session.interface.hint(RekeyText.comparing(check))
    }
  }

  /// Whether a slot of an older list stays.
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

enum RestoredText {
  static let questionToAcceptRestored = "accept this vault as it is? [y/N] "
  static let accepted = "accepted the vault as it is"
  static let nothingToAccept = "the vault is as it was seen last; there is nothing to accept"

  static func newKeys(_ check: VaultCheck) -> String {
    "the vault has new keys, and its check is now \(check)"
  }

  static func questionToKeep(_ slot: VaultSlot) -> String {
    "slot \(slot.number), \(SlotNames.label(of: slot)), opens this copy; let it open the vault? "
      + "[y/N] "
  }

  static func notKept(_ slot: VaultSlot) -> String {
    "will open nothing any more: slot \(slot.number), \(SlotNames.label(of: slot))"
  }

  /// Returns how a restored vault differs from its record, and what opens it, one fact per line.
  static func lines(of differences: RestoredDifferences) -> [String] {
    guard !differences.isRecordAloneChanged else {
      return [
        "the vault has a new administration key, whose check was compared; everything else follows "
          + "what was seen here"
      ]
    }
    var lines: [String] = []
    if differences.isOtherVault {
      lines.append("this is not the vault that was seen here before")
    }
    if differences.isSeenRecordDamaged {
      lines.append("what was seen here before is unknown: its record is damaged")
    }
    lines += counters(differences) + members(differences)
    return lines + contents(differences) + slots(differences)
  }

  private static let listedProblems = 20

  /// Describes the contents of the file, and whether they are as expected.
  private static func contents(_ differences: RestoredDifferences) -> [String] {
    let problems = differences.problems
    let more = problems.count - listedProblems
    return ["it holds \(Words.items(differences.itemCount))"] + problems.prefix(listedProblems)
      + (more > 0 ? ["and \(more) more such problems"] : [])
  }

  private static func counters(_ differences: RestoredDifferences) -> [String] {
    var lines: [String] = []
    if differences.isCutOff {
      lines.append(
        "the file is damaged behind change \(differences.fileNumber): what follows is lost")
    }
    let counted = "the file is at change \(differences.fileNumber)"
    guard let seen = differences.seenNumber else { return lines + [counted] }
    let both = "\(counted), and the newest that was seen here is \(seen)"
    if differences.isFork {
      return lines + ["\(both), of another copy: what was changed in that one is lost"]
    }
    return lines + [both + lost(seen, differences.fileNumber)]
  }

  private static func lost(_ seen: UInt64, _ kept: UInt64) -> String {
    guard seen > kept else { return "" }
    return seen - kept == 1 ? ", so 1 change is lost" : ", so \(seen - kept) changes are lost"
  }

  /// Describes how the keys and the list of members differ.
  private static func members(_ differences: RestoredDifferences) -> [String] {
    var lines: [String] = []
    if differences.isAdministrationKeyChanged, !differences.isOtherVault {
      lines.append(
        "its administration key is not the one that was seen here, and does not follow from it: "
          + "compare its check with somebody who has the vault")
    }
    if differences.makesNewKeys {
      lines.append(
        "its list of what opens it is not the one that was seen here, so slots that were removed "
          + "may be there again: the vault gets new keys, and slots stay only if you agree")
      if differences.otherDeviceItemCount > 0 {
        lines.append(
          "will be deleted: \(Words.items(differences.otherDeviceItemCount)) bound to other devices"
        )
      }
      lines += differences.lostItems.map(RekeyText.lost)
    } else if differences.isOtherList, !differences.isOtherVault {
      lines.append("its list of what opens it is not the one that was seen here")
    }
    return lines
  }

  /// Lists the slots: only a person knows whether a removed slot still opens an older copy.
  private static func slots(_ differences: RestoredDifferences) -> [String] {
    let lines = differences.slots.map {
      "it opens by slot \($0.number), \(SlotNames.label(of: $0))"
    }
    guard !differences.makesNewKeys else { return lines }
    let path = KeychainCommandContext.current.commandPath
    return lines + [
      "one that was removed before can be removed again: '\(path) slots remove NUMBER'"
    ]
  }
}
