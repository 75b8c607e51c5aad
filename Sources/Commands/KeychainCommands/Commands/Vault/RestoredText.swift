internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// The texts about a restored vault.
enum RestoredText {
  static let questionToAcceptRestored = "accept this vault as it is? [y/N] "
  static let accepted = "accepted the vault as it is"
  static let nothingToAccept = "the vault is as it was seen last; there is nothing to accept"

  static func newKeys(_ check: VaultCheck) -> String {
    "the vault has new keys, and its check is now \(check)"
  }

  static func questionToKeep(_ slot: VaultSlot) -> String {
    "slot \(slot.number), \(SlotNames.label(of: slot)), opens this copy; let it open the vault? [y/N] "
  }

  static func notKept(_ slot: VaultSlot) -> String {
    "will open nothing any more: slot \(slot.number), \(SlotNames.label(of: slot))"
  }

  /// Returns how a restored vault differs from the record of it, and what opens it, one fact per
  /// line.
  static func lines(of differences: RestoredDifferences) -> [String] {
    guard !differences.isRecordAloneChanged else {
      return [
        "the vault has a new administration key, whose check was compared; everything else follows what was "
          + "seen here"
      ]
    }
    var lines: [String] = []
    if differences.isOtherVault {
      lines.append("this is another vault than the one seen here before")
    }
    if differences.isSeenRecordDamaged {
      lines.append("what was seen here before is unknown: its record is damaged")
    }
    lines += counters(differences) + members(differences)
    return lines + contents(differences) + slots(differences)
  }

  /// The most problems that are listed.
  private static let listedProblems = 20

  /// Returns the contents of the file, and whether they are as expected.
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

  /// Returns how the keys and the list of members differ.
  private static func members(_ differences: RestoredDifferences) -> [String] {
    var lines: [String] = []
    if differences.isAdministrationKeyChanged, !differences.isOtherVault {
      lines.append(
        "its administration key is not the one that was seen here, and does not follow from it: compare "
          + "its check with somebody who has the vault")
    }
    if differences.makesNewKeys {
      lines.append(
        "its list of what opens it is not the one that was seen here, so slots that were removed may be "
          + "there again: the vault gets new keys, and slots stay only if you agree")
      if differences.otherDeviceItemCount > 0 {
        lines.append(
          "will be deleted: \(Words.items(differences.otherDeviceItemCount)) bound to other devices"
        )
      }
    } else if differences.isOtherList, !differences.isOtherVault {
      lines.append("its list of what opens it is another one than was seen here")
    }
    return lines
  }

  /// Returns the slots: only a person knows whether one was removed that still opens an older copy.
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
