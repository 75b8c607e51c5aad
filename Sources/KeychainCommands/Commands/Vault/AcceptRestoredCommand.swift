internal import ArgumentParser
internal import KeychainCredentials
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
      were both changed. The command first shows how the copy differs from what was seen here last, and \
      every slot that opens it: one that was removed may be there again. It asks on a terminal; \
      elsewhere, add --yes.

      Example:
        \(keychainPath) accept-restored
      """)

  @Flag(name: .shortAndLong, help: "Do not ask")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    let isAccepted = try session.vault.acceptRestored { differences throws(KeychainError) in
      for line in RestoredText.lines(of: differences) {
        session.interface.say(line, isAskedAbout: !yes)
      }
      return try session.confirm(RestoredText.questionToAcceptRestored, assumingYes: yes)
    }
    session.interface.say(isAccepted ? RestoredText.accepted : RestoredText.nothingToAccept)
  }
}

/// The texts about a restored vault.
enum RestoredText {
  static let questionToAcceptRestored = "accept this vault as it is? [y/N] "
  static let accepted = "accepted the vault as it is"
  static let nothingToAccept = "the vault is as it was seen last; there is nothing to accept"

  /// Returns how a restored vault differs from the record of it, and what opens it, one fact per
  /// line.
  static func lines(of differences: RestoredDifferences) -> [String] {
    var lines: [String] = []
    if differences.isOtherVault {
      lines.append("this is another vault than the one seen here before")
    }
    if differences.isSeenRecordDamaged {
      lines.append("what was seen here before is unknown: its record is damaged")
    }
    lines += counters(differences)
    return lines + contents(differences) + slots(differences)
  }

  /// Returns the contents of the file, and whether they are as expected.
  private static func contents(_ differences: RestoredDifferences) -> [String] {
    let held = Words.items(differences.itemCount)
    guard !differences.isStateDamaged else {
      return [
        "the row that says how much it should hold is damaged, so whether items are missing is not "
          + "known; it holds \(held)"
      ]
    }
    let count = differences.expectedItemCount
    return [
      count == differences.itemCount
        ? nil : "it should hold \(Words.items(count)), and holds \(held)",
      differences.isConsistent
        ? "its rows agree with each other" : "its rows do not agree with each other",
    ].compactMap(\.self)
  }

  private static func counters(_ differences: RestoredDifferences) -> [String] {
    let counted = "the file is at change \(differences.fileCounter)"
    guard let seen = differences.seenCounter else { return [counted] }
    let both = "\(counted), and the newest that was seen here is \(seen)"
    if differences.isForged {
      return [
        "\(both); the two are too far apart, so the greater number is forged",
        "the vault goes on from \(min(seen, differences.fileCounter))",
      ]
    }
    if differences.isFork {
      return ["\(both), of another copy: what was changed in that one is lost"]
    }
    return [both + lost(seen, differences.fileCounter)]
  }

  private static func lost(_ seen: UInt64, _ kept: UInt64) -> String {
    guard seen > kept else { return "" }
    return seen - kept == 1 ? ", so 1 change is lost" : ", so \(seen - kept) changes are lost"
  }

  /// Returns the slots: only a person knows whether one was removed that still opens an older copy.
  private static func slots(_ differences: RestoredDifferences) -> [String] {
    var lines: [String] = []
    let count = differences.slots.count + differences.damagedSlots.count
    if !differences.isStateDamaged, differences.expectedSlotCount != count {
      lines.append("it should have \(differences.expectedSlotCount) slots, and has \(count)")
    }
    lines += differences.slots.map { "it opens by slot \($0.number), \(SlotNames.label(of: $0))" }
    lines += differences.damagedSlots.map { "slot \($0) is damaged" }
    let path = KeychainCommandContext.current.commandPath
    return lines + [
      "one that was removed before can be removed again: '\(path) slots remove NUMBER'"
    ]
  }
}
