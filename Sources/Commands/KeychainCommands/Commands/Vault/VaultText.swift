internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

enum VaultText {
  static func facts(
    of status: VaultStatus, sourceProblem: KeychainError? = nil
  ) -> [(String, String)] {
    guard status.exists else { return [("vault", status.path), ("state", absence(status))] }
    return [
      ("vault", status.path), ("state", state(of: status)),
      ("items", items(of: status)),
      (
        "opened by",
        status.slots.map { SlotNames.called($0, deviceKeyExists: status.hasDeviceSecret) }
          .joined(separator: ", ")
      ),
    ] + identity(of: status) + disagreement(status) + problem(ofSource: sourceProblem)
  }

  static func absence(_ status: VaultStatus) -> String {
    status.wasSeen ? "was here before, and is gone" : "not made yet"
  }

  /// Returns the number of items, if it is known while the vault is locked.
  static func items(of status: VaultStatus) -> String {
    status.itemCount.map(String.init) ?? "not known while no key of the vault is here"
  }

  /// Returns whether a vault is locked, and how long it stays unlocked.
  static func state(of status: VaultStatus) -> String {
    // Without the kernel's list of keys, only the time limit is known, not the idle time.
    let most = KernelKeys.areListed ? "" : "at most "
    let left = status.cachedFor.map { ", for \(most)\(Words.time($0)) more" } ?? ""
    switch status.readable {
    case .unlockedNow: return "unlocked\(left)"
    case .unlockedSinceBoot: return "locked; afterFirstUnlock items are readable"
    case .nothing: return "locked; items that need no unlock are readable"
    case nil: return "locked"
    }
  }

  /// Returns what identifies the vault and its state.
  static func identity(of status: VaultStatus) -> [(String, String)] {
    [
      ("kind", kind(of: status)),
      ("check", status.check?.description), ("epoch", status.epoch.map { "\($0)" }),
      ("witness", status.witness),
    ].compactMap { name, value in value.map { (name, $0) } }
  }

  private static func kind(of status: VaultStatus) -> String? {
    guard status.isShared else { return nil }
    let words = "shared: every change is signed by who made it"
    return status.isSharedByLooks ? words + ", by its slots; certain when it is unlocked" : words
  }

  /// Returns how the seen record disagrees with the vault, if it does.
  private static func disagreement(_ status: VaultStatus) -> [(String, String)] {
    switch status.seenRecord {
    case .current, .notCompared, .none: []
    default: [("seen record", words(for: status.seenRecord))]
    }
  }

  static func words(for record: VaultStatus.SeenRecordState) -> String {
    switch record {
    case .current: "agrees with the vault"
    case .notCompared: "not compared with the vault, as no key of it is here"
    case .none: "none: an older copy of the vault would not be noticed on this first use"
    case .unreadable: "damaged or unreadable: this counts as the first use of the vault"
    case .newerThanFile: "knows a newer state: the vault was rolled back"
    case .forked: "knows another copy that was changed on its own: the vault was forked"
    case .otherVault: "is of another vault"
    }
  }

  /// Returns why the secret that should unlock the vault automatically cannot be used.
  static func problem(ofSource problem: KeychainError?) -> [(String, String)] {
    problem.map { [("problem", $0.message)] } ?? []
  }

  static let otherNames = "the file has hard links; the next change separates it from them"

  static let questionToStartAnew =
    "a vault was seen here before and is gone; start over without it? [y/N] "

  static func made(_ status: VaultStatus) -> String {
    "created the vault \(status.path), opened by "
      + status.slots.map { SlotNames.called($0) }.joined(separator: ", ")
  }

  static func changedButUnread(_ failure: KeychainError) -> String {
    "this is done, and the vault could not be read again to say more: \(failure.message)"
  }

  static var deviceKeyAlone: String {
    "without device.key everything in the vault is lost; "
      + "'\(KeychainCommandContext.current.commandPath) recovery create' makes a code on paper "
      + "that opens it"
  }

  static var addMembers: String {
    "for others, run '\(KeychainCommandContext.current.commandPath) slots add --recipient "
      + "RECIPIENT --name NAME --may administer', write or read; they make the recipient with "
      + "'identity create'"
  }

  static func nothingToLock(_ path: String) -> String {
    "there is no vault at '\(path)', so there was nothing to lock"
  }

  static func lockedAndGone(_ path: String) -> String {
    "the vault '\(path)' is gone; its keys were forgotten anyway"
  }

  static var staysUnlocked: String {
    "this vault opens by the device key alone, so it cannot stay locked; "
      + "'\(KeychainCommandContext.current.commandPath) slots add --passphrase' changes that"
  }

  static func changedPassphrase(_ slot: VaultSlot) -> String {
    "changed the passphrase of slot \(slot.number)"
  }

  static var copiesKeepThePassphrase: String {
    "copies of the vault made before still open with the old passphrase, and hold the keys of this "
      + "one; if somebody may have both, run '\(KeychainCommandContext.current.commandPath) rekey "
      + "--new-administration-key'"
  }

  static func summary(of report: VerificationReport) -> String {
    let unopened = report.itemCount - report.openedCount
    let locked = unopened > 0 ? ", \(unopened) of them without opening, as they are locked" : ""
    return "checked \(Words.items(report.itemCount))\(locked): "
      + (report.isIntact ? "intact\n" : "not intact\n")
  }

  /// Returns a verification's findings that are not damage.
  static func remarks(on report: VerificationReport) -> [String] {
    let path = KeychainCommandContext.current.commandPath
    var remarks = report.shadowed.map {
      "\($0) is not used: an item of the same name with a stricter accessibility takes its place; "
        + "'\(path) compact' deletes it"
    }
    if report.hasUnfinishedWrite {
      remarks.append("the last write was not finished; the next one removes what is left of it")
    }
    if report.readable != .unlockedNow {
      let locked =
        report.readable == .nothing ? "items that need an unlock" : "whenUnlocked items"
      remarks.append(
        "\(locked) were checked against damage, not against a change by somebody who has the "
          + "device key; for that, run '\(path) unlock', then 'verify' again")
    }
    return remarks
  }

  /// Reports what was copied; without a file, to standard output.
  static func summary(of report: BackupReport, file: String?) -> String {
    "copied \(Words.items(report.itemCount)) to \(file ?? "standard output"), opened by "
      + report.slots.map { SlotNames.name(of: $0) }.joined(separator: ", ")
  }

  static func boundToDevice(_ count: Int) -> String {
    "\(Words.items(count)) of it \(Words.are(count)) bound to a device: "
      + "no copy brings \(count == 1 ? "it" : "them") back without that device.key"
  }

  static var backupNeedsThisDevice: String {
    "only this machine's device key opens the copy; to have it open elsewhere, run "
      + "'\(KeychainCommandContext.current.commandPath) recovery create' for a code on paper, or "
      + "'\(KeychainCommandContext.current.commandPath) slots add --passphrase', and copy again"
  }
}

extension KeychainError {
  static func vaultExists(_ path: String) -> Self {
    Self(
      .alreadyExists, "there is a vault at '\(path)'",
      recovery: .showOrAddSlot)
  }

  static func notIntact(_ problems: Int) -> Self {
    let path = KeychainCommandContext.current.commandPath
    return Self(
      .damaged, "the vault is not intact: \(problems) problem\(problems == 1 ? "" : "s") found",
      recovery:
        "keep a copy of the file, and restore a backup; '\(path) compact --drop ID' deletes a "
        + "damaged item, and '\(path) rekey --drop-damaged' all of them")
  }
}

// MARK: - JSON

extension VaultText {
  static func json(of status: VaultStatus, sourceProblem: KeychainError? = nil) -> JSONValue {
    let items = status.itemsByAccessibility.map { ($0.key.description, $0.value) }
    return .members([
      ("path", status.path), ("state", stateWord(of: status)), ("exists", status.exists),
      ("wasSeen", status.wasSeen), ("readable", status.readable.map { "\($0)" }),
      (
        "cachedForSeconds",
        KernelKeys.areListed ? status.cachedFor?.components.seconds : nil
      ),
      ("cacheAvailable", status.isCacheAvailable), ("items", status.itemCount),
      (
        "itemsByAccessibility",
        status.itemCount.map { _ in Dictionary(uniqueKeysWithValues: items) }
      ),
      ("kind", status.kind.map(word)), ("id", status.id), ("epoch", status.epoch),
      ("counter", status.counter), ("witness", status.witness),
      ("check", status.check?.description), ("slots", status.slots),
      ("deviceKey", status.deviceSecretPath), ("deviceKeyExists", status.hasDeviceSecret),
      ("seenRecord", "\(status.seenRecord)"), ("seenRecordPath", status.seenRecordPath),
      ("fileSystem", status.fileSystem), ("onNetwork", status.isOnNetwork),
      ("inMemory", status.isInMemory), ("readOnly", status.isReadOnly),
      ("otherNames", status.hasOtherNames), ("refused", status.seenFailure != nil),
      ("unlockSources", status.unlockSources), ("sourceProblem", sourceProblem?.message),
    ])
  }

  private static func word(for kind: VaultKind) -> String {
    switch kind {
    case .local: "local"
    case .shared: "shared"
    }
  }

  private static func stateWord(of status: VaultStatus) -> String {
    guard status.exists else { return "absent" }
    return status.readable == .unlockedNow ? "unlocked" : "locked"
  }
}

extension VerificationReport: JSONConvertible {
  var json: JSONValue {
    .members([
      ("intact", isIntact), ("items", itemCount), ("opened", openedCount), ("problems", problems),
      ("shadowed", shadowed), ("unfinishedWrite", hasUnfinishedWrite),
      ("readable", "\(readable)"),
    ])
  }
}
