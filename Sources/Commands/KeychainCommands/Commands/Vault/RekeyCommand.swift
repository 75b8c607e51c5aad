internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// Gives the vault new keys.
struct RekeyCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Give the vault new keys, so that old ones no longer open it",
    discussion: """
      Everything is sealed again, in one step: a failure leaves the vault as it was. Do this when \
      somebody may have a copy of the vault and a passphrase, key or code that opened it once. \
      Such a copy still holds the secrets of its time; change these where they are used.

      The command needs a secret that opens everything, such as the passphrase, also while the \
      vault is unlocked. Everything that opens the vault stays, and needs no other secret. The \
      command lists it by name and fingerprint: compare the fingerprints with what 'identity show' \
      prints where the identities are. It also lists what is lost, such as credentials that are \
      bound to other devices, and asks on a terminal; elsewhere, add --yes.

      The administration key, which signs the list of what opens the vault, stays as well, unless \
      a slot that administers is removed. Anyone who has opened the vault with such a slot may \
      know it: then use --new-administration-key. The vault gets a new check, which pinned \
      identities and other machines need, unless the recovery code opened the vault for this: then \
      machines that have seen the vault follow by themselves, and identities are pinned again.

      Example:
        \(keychainPath) rekey
        \(keychainPath) rekey --remove 3 --passphrase-file f --yes
        \(keychainPath) rekey --new-administration-key --recovery-code-file code
      """)

  @Option(
    help: .init("Also remove a slot, as 'slots remove' does", valueName: "number"),
    completion: .vaultSlots)
  var remove: UInt32?

  @Flag(help: "Also give the vault a new administration key, and a new check")
  var newAdministrationKey = false

  @Flag(help: "Drop the credentials that do not open, after listing them")
  var dropDamaged = false

  @Flag(name: .shortAndLong, help: "Do not ask")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    try session.rekey(
      removing: remove, newAdministrationKey: newAdministrationKey, droppingDamaged: dropDamaged,
      assumingYes: yes)
  }
}

extension Session {
  /// Gives the vault new keys, and reports the result.
  ///
  /// A slot can be removed in the same step, and if no passphrase is left, the items that need one,
  /// too. With `isAgreed`, nothing is asked.
  func rekey(
    removing removed: UInt32? = nil, deletingItems: Bool = false,
    newAdministrationKey: Bool = false, droppingDamaged: Bool = false,
    assumingYes isAgreed: Bool
  ) throws {
    // A mistyped number is reported before anybody is asked for a passphrase.
    if let removed, try !vault.slots().contains(where: { $0.number == removed }) {
      throw KeychainError.noSlot(removed)
    }
    let wasCached = try vault.status().cachedFor != nil
    let report = try withProgress { progress in
      try vault.rekey(
        removing: removed, deletingItems: deletingItems,
        newAdministrationKey: newAdministrationKey, droppingDamaged: droppingDamaged,
        confirm: { plan throws(KeychainError) in try agrees(to: plan, assumingYes: isAgreed) },
        progress: progress)
    }
    for line in RekeyText.lines(of: report) { interface.say(line) }
    for hint in RekeyText.hints(about: report) { interface.hint(hint) }
    if wasCached { interface.hint(RekeyText.lockedByNewKeys) }
  }

  /// Shows what new keys keep and lose, and asks a person to agree.
  ///
  /// Nothing is asked if only this machine's device key opens the vault, and nothing is lost.
  func agrees(to plan: RekeyPlan, assumingYes isAgreed: Bool) throws(KeychainError) -> Bool {
    guard plan.concernsOthers else { return true }
    let hasDeviceKey = try vault.status().hasDeviceSecret
    for line in RekeyText.lines(of: plan, deviceKeyExists: hasDeviceKey) {
      interface.say(line, isAskedAbout: !isAgreed)
    }
    guard isAgreed || prompt != nil else { throw .newKeysNeedConfirmation }
    return try confirm(
      RekeyText.question(plan, deviceKeyExists: hasDeviceKey), assumingYes: isAgreed)
  }
}

extension RekeyPlan {
  /// Whether a person must compare something, or something is lost.
  fileprivate var concernsOthers: Bool {
    removed != nil || losesItems || promotesDevice
      || kept.contains { $0.isThisDevice != true }
  }
}

enum RekeyText {
  static func question(_ plan: RekeyPlan, deviceKeyExists: Bool) -> String {
    guard let removed = plan.removed else { return "give the vault new keys? [y/N] " }
    let label = SlotNames.label(of: removed, deviceKeyExists: deviceKeyExists)
    return "remove slot \(removed.number), \(label), and give the vault new keys? [y/N] "
  }

  /// Lists what new keys keep and lose, one fact per line.
  static func lines(of plan: RekeyPlan, deviceKeyExists: Bool) -> [String] {
    let opening = plan.kept.map { slot in
      "will open the vault: slot \(slot.number), "
        + SlotNames.label(of: slot, deviceKeyExists: deviceKeyExists) + opens(slot)
    }
    let key =
      plan.changesAdministrationKey
      ? ["the vault gets a new administration key, and with it a new check"] : []
    return opening + losses(of: plan, deviceKeyExists: deviceKeyExists) + key
  }

  /// Returns what a slot opens, unless it opens everything.
  private static func opens(_ slot: VaultSlot) -> String {
    switch slot.grant {
    case .administers: ""
    case .openTier, .readsAndWrites, .reads: ", which \(slot.grant)"
    }
  }

  private static func losses(of plan: RekeyPlan, deviceKeyExists: Bool) -> [String] {
    var lines: [String] = []
    if let slot = plan.removed {
      let label = SlotNames.label(of: slot, deviceKeyExists: deviceKeyExists)
      lines.append("will be removed: slot \(slot.number), \(label)")
    }
    lines += plan.damagedItems.map(lost)
    if plan.otherDeviceItemCount > 0 {
      let missing = deviceKeyExists ? "" : ", or to this one, whose device.key is missing"
      lines.append(
        "will be deleted: \(Words.items(plan.otherDeviceItemCount)) bound to other "
          + "devices\(missing)"
      )
    }
    lines += plan.deletedItems.map(SlotText.willDelete).sorted()
    if plan.promotesDevice { lines.append(SlotText.deviceWillOpenEverything) }
    return lines
  }

  static func lost(_ item: String) -> String { "will be lost, as it does not open: \(item)" }

  /// Lists the results of new keys, one per line.
  static func lines(of report: RekeyReport) -> [String] {
    let plan = report.plan
    let deleted =
      plan.otherDeviceItemCount + plan.deletedItems.count + plan.damagedItems.count
    let kept = plan.itemCount - deleted
    let lost = deleted > 0 ? ", deleted \(Words.items(deleted))" : ""
    let removed = plan.removed.map { "removed slot \($0.number): \(SlotNames.label(of: $0))" }
    return [
      removed,
      "sealed \(Words.items(kept)) again\(lost); the vault is opened by "
        + plan.kept.map { "slot \($0.number) (\(SlotNames.called($0)))" }.joined(separator: ", "),
      plan.changesAdministrationKey ? newCheck(report.check) : nil,
    ].compactMap(\.self)
  }

  static func newCheck(_ check: VaultCheck) -> String { "the vault's check is now \(check)" }

  /// Lists what a person should do after the vault got new keys.
  static func hints(about report: RekeyReport) -> [String] {
    let copies =
      "copies of the vault made before still open as they did, and hold the secrets of their time: "
      + "change those that somebody may have, and make a new backup"
    let plan = report.plan
    guard plan.changesAdministrationKey else { return [copies] }
    return [copies]
      + hints(
        aboutNew: report.check, keeping: plan.kept, isFollowed: plan.isSignedByRecoveryCode)
  }

  /// Explains where a new check is needed; machines that have seen the vault may not need it.
  static func hints(
    aboutNew check: VaultCheck, keeping slots: [VaultSlot], isFollowed: Bool
  ) -> [String] {
    var hints: [String] = []
    if slots.contains(where: { $0.kind == .recoveryCode }) {
      hints.append(RecoveryCodeText.writing(check))
    }
    if !isFollowed, slots.contains(where: { $0.isThisDevice != true }) {
      hints.append(comparing(check))
    } else if slots.contains(where: { $0.kind == .recipient }) {
      hints.append(IdentityText.toPin(check))
    }
    return hints
  }

  /// Explains what to do where a new administration key is refused.
  static func comparing(_ check: VaultCheck) -> String {
    let path = KeychainCommandContext.current.commandPath
    return
      "other machines that have seen the vault refuse it until somebody there compares the new "
      + "check with you: '\(path) identity pin FILE --check \(check)' for a pinned identity, and "
      + "'\(path) accept-restored --check \(check)'"
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
  static let newKeysNeedConfirmation = KeychainError(
    .invalidArgument,
    "new keys need a yes to the above, and there is no terminal to ask, or asking is turned off",
    recovery: "compare what will open the vault, and add --yes")
}
