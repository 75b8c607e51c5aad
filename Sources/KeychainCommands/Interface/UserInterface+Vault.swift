internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

extension UserInterface {
  /// The table of slots.
  static func table(_ slots: [VaultSlot], deviceKeyExists: Bool) -> TextTable {
    TextTable(
      header: ["SLOT", "KIND", "OPENS", "DETAIL"],
      rows: slots.map {
        [
          String($0.number), name(of: $0, deviceKeyExists: deviceKeyExists), opens($0), detail($0),
        ]
      })
  }

  /// What a slot is; without a device key, whether it is this machine's cannot be told.
  static func name(of slot: VaultSlot, deviceKeyExists: Bool = true) -> String {
    switch slot.kind {
    case .passphrase: "passphrase"
    case .keyFile: "key file"
    case .device where slot.isThisDevice == true: "device (this one)"
    case .device where !deviceKeyExists: "device (its device.key is missing)"
    case .device: "device (another one)"
    case .recoveryCode: "recovery code"
    case .recipient: "recipient"
    }
  }

  private static func opens(_ slot: VaultSlot) -> String {
    switch slot.grant {
    case .root: "everything"
    case .openTier: "what needs no unlock"
    }
  }

  /// The cost of a passphrase's hash, or the recipient.
  private static func detail(_ slot: VaultSlot) -> String {
    if let recipient = slot.recipient { return recipient.description }
    return slot.passwordHash.map { "\($0.memory >> 20) MiB, \($0.passes) passes" } ?? ""
  }

  /// The state of a vault in few lines.
  static func description(
    of status: VaultStatus, sourceProblem: KeychainError? = nil
  ) -> String {
    guard status.exists else {
      return lines([
        ("vault", status.path),
        ("state", status.wasSeen ? "was here before, and is gone" : "not made yet"),
      ])
    }
    return lines(
      [
        ("vault", status.path), ("state", state(of: status)),
        ("items", String(status.itemCount)),
        (
          "opened by",
          status.slots.map { name(of: $0, deviceKeyExists: status.hasDeviceSecret) }
            .joined(separator: ", ")
        ),
      ] + check(status) + disagreement(status) + problem(ofSource: sourceProblem))
  }

  /// What the seen record says, if it does not agree with the vault.
  private static func disagreement(_ status: VaultStatus) -> [(String, String)] {
    switch status.seenRecord {
    case .current, .none: []
    default: [("seen record", words(for: status.seenRecord))]
    }
  }

  /// What tells the vault from others.
  static func check(_ status: VaultStatus) -> [(String, String)] {
    status.check.map { [("check", $0.description)] } ?? []
  }

  /// Whether a vault is locked, and for how long it is not.
  static func state(of status: VaultStatus) -> String {
    // Without the kernel's list of keys only the limit is known, and not when disuse ends it.
    let most = Environment.listsKernelKeys ? "" : "at most "
    let left = status.cachedFor.map { ", for \(most)\(time($0)) more" } ?? ""
    switch status.readable {
    case .unlockedNow: return "unlocked\(left)"
    case .unlockedSinceBoot: return "locked; afterFirstUnlock items are readable"
    case .nothing: return "locked; items that need no unlock are readable"
    case nil: return "locked"
    }
  }

  static func nothingToLock(_ path: String) -> String {
    "there is no vault at '\(path)', so nothing was to lock"
  }

  static func lockedAndGone(_ path: String) -> String {
    "the vault '\(path)' is gone; its keys were forgotten all the same"
  }

  static var staysUnlocked: String {
    "this vault opens by the device key alone, so it cannot stay locked; "
      + "'\(KeychainCommandContext.current.commandPath) slots add --passphrase' changes that"
  }

  static func made(_ status: VaultStatus) -> String {
    "made the vault \(status.path), opened by "
      + status.slots.map { name(of: $0) }.joined(separator: ", ")
  }

  static var deviceKeyAlone: String {
    "without device.key everything in the vault is lost; "
      + "'\(KeychainCommandContext.current.commandPath) recovery create' makes a code on paper "
      + "that opens it"
  }

  static func added(_ slot: VaultSlot) -> String {
    "added slot \(slot.number): \(label(of: slot))"
  }

  /// What a slot is, with the recipient, as there may be several.
  static func label(of slot: VaultSlot, deviceKeyExists: Bool = true) -> String {
    name(of: slot, deviceKeyExists: deviceKeyExists) + (slot.recipient.map { " \($0)" } ?? "")
  }

  static func lockedNow(by slot: VaultSlot) -> String {
    guard Vault.canStayUnlocked else { return "the vault is locked now; \(unlockingEachTime)" }
    let key = slot.kind == .keyFile ? " --key-file FILE" : ""
    return "the vault is locked now; "
      + "'\(KeychainCommandContext.current.commandPath) unlock\(key)' opens it"
  }

  static func removed(_ slot: VaultSlot) -> String {
    "removed slot \(slot.number): \(label(of: slot)); "
      + "copies of the vault that were made before still open with it"
  }

  static func willDelete(_ identity: CredentialIdentity) -> String {
    "will be deleted: \(identity)"
  }

  static func deleted(_ count: Int) -> String { "deleted \(items(count))" }

  static func progress(_ progress: VaultProgress) -> String {
    "\(progress.completed) of \(items(progress.total))"
  }

  static func summary(of report: VerificationReport) -> String {
    let unopened = report.itemCount - report.openedCount
    let locked = unopened > 0 ? ", \(unopened) of them without opening, as they are locked" : ""
    return "checked \(items(report.itemCount))\(locked): "
      + (report.isIntact ? "intact\n" : "not intact\n")
  }

  static func summary(of report: BackupReport, file: String) -> String {
    "copied \(items(report.itemCount)) to \(file), opened by "
      + report.slots.map { name(of: $0) }.joined(separator: ", ")
  }

  var backupNeedsThisDevice: String {
    "only this machine's device key opens the copy; to have it open elsewhere, "
      + "run '\(KeychainCommandContext.current.commandPath) recovery create' for a code on paper, or "
      + "'\(KeychainCommandContext.current.commandPath) slots add --passphrase', and copy again"
  }

  static func boundToDevice(_ count: Int) -> String {
    "\(items(count)) of it \(are(count)) bound to a device: "
      + "no copy brings \(count == 1 ? "it" : "them") back without that device.key"
  }
}
