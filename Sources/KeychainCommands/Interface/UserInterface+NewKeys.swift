internal import KeychainCredentials
internal import KeychainVault

/// What is said about new passphrases and new keys.
extension UserInterface {
  static func changedPassphrase(_ slot: VaultSlot) -> String {
    "changed the passphrase of slot \(slot.number)"
  }

  static var copiesKeepThePassphrase: String {
    "copies of the vault made before still open with the old passphrase, and hold the keys of this "
      + "one; if somebody may have both, run '\(KeychainCommandContext.current.commandPath) rekey'"
  }

  static func questionToKeep(_ slot: VaultSlot, failures: Int) -> String {
    let again = failures > 0 ? "that passphrase is wrong; try again\n" : ""
    return "\(again)passphrase of slot \(slot.number) (empty to let it go): "
  }

  static func questionToKeepCode(_ slot: VaultSlot, failures: Int) -> String {
    let again = failures > 0 ? "that is not the code of slot \(slot.number); try again\n" : ""
    return "\(again)recovery code of slot \(slot.number), to keep it: "
  }

  static func questionToKeepRecipient(_ slot: VaultSlot) -> String {
    "slot \(slot.number) opens the vault to \(label(of: slot)); keep it? [y/N] "
  }

  static var removalKeepsKeys: String {
    let path = KeychainCommandContext.current.commandPath
    return
      "the vault keeps its keys, which whoever opened it with that slot may know: '\(path) rekey' "
      + "gives it new ones, and 'slots remove --rekey' does both in one step"
  }

  static let questionToRekey = "give the vault new keys, and lose that? [y/N] "

  /// What new keys would lose, a line each.
  static func losses(of plan: RekeyPlan, deviceKeyExists: Bool) -> [String] {
    var lines = plan.dropped.map { slot in
      let forged =
        plan.forged.contains(slot.number) ? ", which no holder of the vault's root key made" : ""
      return "will open nothing any more: slot \(slot.number), "
        + label(of: slot, deviceKeyExists: deviceKeyExists) + forged
    }
    if plan.otherDeviceItemCount > 0 {
      let missing = deviceKeyExists ? "" : ", or to this one, whose device.key is missing"
      lines.append(
        "will be deleted: \(items(plan.otherDeviceItemCount)) bound to other devices\(missing)")
    }
    lines += plan.deletedItems.map(willDelete).sorted()
    if plan.promotesDevice { lines.append(deviceWillOpenEverything) }
    return lines
  }

  /// What new keys have done, a line each.
  static func lines(of report: RekeyReport) -> [String] {
    let plan = report.plan
    let deleted = plan.otherDeviceItemCount + plan.deletedItems.count
    let kept = plan.itemCount - deleted
    let lost = deleted > 0 ? ", deleted \(items(deleted))" : ""
    let removed = plan.removed.map { "removed slot \($0.number): \(label(of: $0))" }
    return [
      removed,
      "sealed \(items(kept)) anew\(lost); the vault is opened by "
        + plan.kept.map { "slot \($0.number) (\(label(of: $0)))" }.joined(separator: ", "),
      "the vault's check is now \(report.check)",
    ].compactMap(\.self)
  }

  /// What a person should do after the vault got new keys.
  static func hints(about report: RekeyReport) -> [String] {
    var hints = [
      "copies of the vault made before still open as they did, and hold the secrets of their time: "
        + "change those that somebody may have, and make a new backup"
    ]
    if report.plan.dropped.contains(where: { $0.kind == .recoveryCode }) {
      hints.append(
        "the old recovery code opens nothing any more; for a new one, run "
          + "'\(KeychainCommandContext.current.commandPath) recovery create'")
    }
    if report.plan.kept.contains(where: { $0.kind == .recipient }) {
      hints.append(
        "identity files elsewhere that are pinned to the vault need the new check: "
          + "'\(KeychainCommandContext.current.commandPath) identity pin FILE --check "
          + "\(report.check)'")
    }
    return hints
  }

  static var lockedByNewKeys: String {
    guard Vault.canStayUnlocked else { return "the vault is locked now; \(unlockingEachTime)" }
    return
      "the vault is locked now; '\(KeychainCommandContext.current.commandPath) unlock' opens it"
  }
}
