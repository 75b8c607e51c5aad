internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainTerminal
internal import KeychainVault
internal import PrephirencesCommandLine

extension Session {
  /// Gives the vault new keys, and reports the result.
  ///
  /// A slot can be removed in the same step, together with the items that need a passphrase if no
  /// passphrase is kept. If `isAgreed`, nothing is asked, and everything that is not kept is
  /// removed.
  func rekey(
    removing removed: UInt32? = nil, deletingItems: Bool = false, keeping kept: KeptSlotOptions,
    assumingYes isAgreed: Bool
  ) throws(KeychainError) {
    try kept.recipients.requireSlots(in: vault)
    let wasCached = try vault.status().cachedFor != nil
    let asked = isAgreed ? nil : prompt
    let report = try withProgress { progress throws(KeychainError) in
      try vault.rekey(
        removing: removed, deletingItems: deletingItems, keeping: try kept.sources(),
        asking: { slot, failures throws(KeychainError) in
          try asked?.secret(RekeyText.questionToKeep(slot, failures: failures))
        },
        keepingRecipient: { slot throws(KeychainError) in
          try kept.recipients.keeps(slot, asking: asked)
        },
        confirm: { plan throws(KeychainError) in try confirm(plan, assumingYes: isAgreed) },
        progress: progress)
    }
    for line in RekeyText.lines(of: report) { interface.say(line) }
    for hint in RekeyText.hints(about: report) { interface.hint(hint) }
    if wasCached { interface.hint(RekeyText.lockedByNewKeys) }
  }

  private func confirm(
    _ plan: RekeyPlan, assumingYes isAgreed: Bool
  ) throws(KeychainError) -> Bool {
    let hasDeviceKey = try vault.status().hasDeviceSecret
    for line in RekeyText.losses(of: plan, deviceKeyExists: hasDeviceKey) {
      interface.say(line, isAskedAbout: !isAgreed)
    }
    guard isAgreed || prompt != nil else { throw .wouldLoseSomething }
    return try confirm(RekeyText.questionToRekey, assumingYes: isAgreed)
  }
}

/// The texts about new keys.
enum RekeyText {
  static func questionToKeep(_ slot: VaultSlot, failures: Int) -> String {
    let again = failures > 0 ? "that passphrase is wrong; try again\n" : ""
    return "\(again)passphrase of slot \(slot.number) (empty to let it go): "
  }

  static let questionToRekey = "give the vault new keys, and lose that? [y/N] "

  /// Returns what new keys would lose, one fact per line.
  static func losses(of plan: RekeyPlan, deviceKeyExists: Bool) -> [String] {
    var lines = plan.dropped.map { slot in
      let forged =
        plan.forged.contains(slot.number) ? ", which no holder of the vault's root key made" : ""
      return "will open nothing any more: slot \(slot.number), "
        + SlotNames.label(of: slot, deviceKeyExists: deviceKeyExists) + forged
    }
    if plan.otherDeviceItemCount > 0 {
      let missing = deviceKeyExists ? "" : ", or to this one, whose device.key is missing"
      lines.append(
        "will be deleted: \(Words.items(plan.otherDeviceItemCount)) bound to other devices\(missing)"
      )
    }
    lines += plan.deletedItems.map(SlotText.willDelete).sorted()
    if plan.promotesDevice { lines.append(SlotText.deviceWillOpenEverything) }
    return lines
  }

  /// Returns the results of new keys, one per line.
  static func lines(of report: RekeyReport) -> [String] {
    let plan = report.plan
    let deleted = plan.otherDeviceItemCount + plan.deletedItems.count
    let kept = plan.itemCount - deleted
    let lost = deleted > 0 ? ", deleted \(Words.items(deleted))" : ""
    let removed = plan.removed.map { "removed slot \($0.number): \(SlotNames.label(of: $0))" }
    return [
      removed,
      "sealed \(Words.items(kept)) again\(lost); the vault is opened by "
        + plan.kept.map { "slot \($0.number) (\(SlotNames.label(of: $0)))" }.joined(separator: ", "),
      "the vault's check is now \(report.check)",
    ].compactMap(\.self)
  }

  /// Returns what a person should do after the vault got new keys.
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
    guard Vault.canStayUnlocked else {
      return "the vault is locked now; \(UnlockText.unlockingEachTime)"
    }
    return
      "the vault is locked now; '\(KeychainCommandContext.current.commandPath) unlock' opens it"
  }
}

extension KeychainError {
  static let wouldLoseSomething = KeychainError(
    .invalidArgument,
    "new keys would lose the above, and there is no terminal to ask, or asking is turned off",
    recovery: "keep slots with \(.keepSlot(nil)), or add --yes to let them go")
}
