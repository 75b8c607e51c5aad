internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault

extension UserInterface {
  /// Everything that a diagnosis found, in lines.
  static func description(of diagnosis: Diagnosis) -> String {
    var pairs = stores(diagnosis)
    if let path = diagnosis.path { pairs.append(("vault", path)) }
    if let status = diagnosis.status {
      pairs += vault(status, diagnosis)
      pairs += problem(ofSource: diagnosis.sourceProblem)
    } else if let failure = diagnosis.vaultFailure {
      pairs.append(("problem", failure.message))
    }
    pairs += expiry(diagnosis)
    pairs += surroundings(diagnosis)
    pairs += nextSteps(diagnosis).map { ("next", $0) }
    return lines(pairs)
  }

  private static func vault(_ status: VaultStatus, _ diagnosis: Diagnosis) -> [(String, String)] {
    guard status.exists else {
      return [("state", status.wasSeen ? "was here before, and is gone" : "not made yet")]
    }
    var pairs = [("state", state(of: status)), ("items", counts(status))]
    pairs += status.slots.map {
      (
        "opened by",
        "slot \($0.number), \(name(of: $0, deviceKeyExists: status.hasDeviceSecret)): "
          + value(of: $0) + ($0.recipient.map { "; \($0)" } ?? "")
      )
    }
    pairs += status.damagedSlots.map { ("damaged", "slot \($0), which opens nothing any more") }
    pairs += check(status)
    if let grade = diagnosis.grade { pairs.append(("protection", words(for: grade))) }
    pairs += losses(status)
    pairs.append(("seen record", words(for: status.seenRecord) + " (\(status.seenRecordPath))"))
    pairs.append(("file system", fileSystem(status)))
    return pairs
  }

  private static func counts(_ status: VaultStatus) -> String {
    var parts = Accessibility.allCases.compactMap { accessibility in
      status.itemsByAccessibility[accessibility].map { "\($0) \(accessibility)" }
    }
    if status.damagedItemCount > 0 { parts.append("\(status.damagedItemCount) damaged") }
    return "\(status.itemCount)" + (parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))")
  }

  private static func value(of slot: VaultSlot) -> String {
    switch (slot.grant, slot.passwordHash) {
    case (.openTier, _): "opens what needs no unlock"
    case (.root, let cost?): "opens everything; \(cost.memory >> 20) MiB, \(cost.passes) passes"
    case (.root, nil): "opens everything"
    }
  }

  static func words(for grade: Diagnosis.Grade) -> String {
    switch grade {
    case .strong: "strong: nothing that is locked opens but by what people or services were given"
    case .fair:
      "fair: a passphrase with a hash that is cheaper than usual, or a key file of a few readable words"
    case .weak:
      "weak: a device key opens everything, which protects against other users, "
        + "not against who has the disk"
    }
  }

  static func words(for record: VaultStatus.SeenRecordState) -> String {
    switch record {
    case .current: "agrees with the vault"
    case .none: "none: an older copy of the vault would not be noticed at this first sight"
    case .unreadable: "damaged or unreadable: this counts as the first sight of the vault"
    case .newerThanFile: "knows a newer state: the vault was rolled back"
    case .forked: "knows another copy with as many changes: the vault was forked"
    case .tooFarBehindFile: "knows far fewer changes than the vault counts: the vault was forged"
    case .otherVault: "is of another vault"
    }
  }

  private static func fileSystem(_ status: VaultStatus) -> String {
    let name = status.fileSystem ?? "unknown"
    if status.isOnNetwork { return "\(name), a network's, where locks may not hold" }
    if let words = passingPlace(status) { return "\(name), \(words)" }
    return status.isReadOnly ? "\(name), which can only be read" : name
  }

  private static func surroundings(_ diagnosis: Diagnosis) -> [(String, String)] {
    var pairs: [(String, String)] = []
    if let status = diagnosis.status {
      pairs.append(("cache", cache(status)))
      pairs.append(
        (
          "unlocking tries",
          words(forSources: status.unlockSources + (status.mayAsk ? ["prompt"] : []))
        ))
    }
    pairs += diagnosis.weakKeyFiles.map { ("key file", weakKeyFile($0)) }
    if let folder = diagnosis.status?.emptyCredentialsFolder {
      pairs.append(("credentials", noCredential(folder)))
    }
    pairs.append(("memory", memory(diagnosis)))
    pairs.append(("core dumps", "off for this command"))
    if !diagnosis.hasProcessFiles { pairs.append(("system", withoutProcessFiles)) }
    return pairs
  }

  private static let withoutProcessFiles =
    "/proc is not mounted: how much memory is free, file systems, how soon an unused vault locks, "
    + "and the name of the keyring's program are not known"

  /// What is the matter with the secret that is to open the vault without a person.
  static func problem(ofSource problem: KeychainError?) -> [(String, String)] {
    problem.map { [("problem", $0.message)] } ?? []
  }

  private static func weakKeyFile(_ source: String) -> String {
    "\(source) holds a few readable words, which are guessed fast: key files are not stretched as "
      + "passphrases are"
  }

  private static func words(forSources sources: [String]) -> String {
    (["the kernel's cache", "the device key"] + sources).joined(separator: ", ")
  }

  /// What to do next.
  static func nextSteps(_ diagnosis: Diagnosis) -> [String] {
    let source = diagnosis.sourceProblem?.recovery.map { [$0.commandText] } ?? []
    return storeSteps(diagnosis) + source + vaultSteps(diagnosis) + expirySteps(diagnosis)
  }

  private static func vaultSteps(_ diagnosis: Diagnosis) -> [String] {
    let path = KeychainCommandContext.current.commandPath
    if let failure = diagnosis.failure {
      return failure.recovery.map { [$0.commandText] } ?? []
    }
    guard let status = diagnosis.status, status.exists else {
      if diagnosis.decision?.place.kind == .secretService { return [] }
      return ["run '\(path) init', or store a credential with '\(path) set', which makes the vault"]
    }
    var steps: [String] = []
    let isThisDevice = status.slots.contains { $0.isThisDevice == true }
    if diagnosis.grade == .weak, status.canBeOpened, isThisDevice {
      steps.append(protectingTheDisk(status, path))
      if let source = status.unlockSources.first { steps.append(usingSource(source, path)) }
    }
    if !status.canBeOpened {
      let opening =
        status.slots.contains { $0.isThisDevice == true }
        ? "nothing that is here opens what is locked"
        : "only the kernel's cache opens this vault now"
      steps.append(
        "\(opening): \(wayBack(status)), or copy the secrets out with '\(path) get' "
          + "while they are readable")
    } else if status.readable != .unlockedNow, !status.isCacheAvailable {
      steps.append(unlockingEachTime)
    } else if status.readable != .unlockedNow {
      steps.append("to unlock, run '\(path) unlock'")
    }
    if status.canBeOpened, !isThisDevice, status.slots.contains(where: { $0.kind == .device }) {
      steps.append(
        "if this is a restored backup, run '\(path) slots add --device', and this machine opens the "
          + "vault as the old one did")
    }
    if status.canBeOpened, !status.slots.contains(where: { $0.kind == .recoveryCode }) {
      // The passphrase gives the vault new keys, so the code is best made after it.
      let order = diagnosis.grade == .weak && isThisDevice ? "after that, " : ""
      steps.append(
        "\(order)for a code on paper that opens the vault when all else is lost, "
          + "run '\(path) recovery create'")
    }
    if let only = status.fullSlots.first, status.fullSlots.count == 1, only.kind != .device {
      let second = only.kind == .passphrase ? "--new-key-file FILE" : "--passphrase"
      steps.append("for a second way to open the vault, run '\(path) slots add \(second)'")
    }
    if !diagnosis.weakKeyFiles.isEmpty {
      steps.append(
        "for a key file that nobody guesses, run '\(path) slots add --new-key-file FILE', and remove "
          + "the old one with '\(path) slots remove NUMBER --rekey'")
    }
    if status.isOnNetwork { steps.append("move the vault to a local disk, with KEYCHAIN_VAULT") }
    if status.isInMemory { steps.append(leavingMemory) }
    return steps + memorySteps(diagnosis.memoryLocking)
  }

  /// The first passphrase makes new keys, to which other devices cannot be carried over, and codes only if
  /// they are given.
  private static func protectingTheDisk(_ status: VaultStatus, _ path: String) -> String {
    let devices = status.fullSlots.filter { $0.kind == .device && $0.isThisDevice != true }
    let codes = status.fullSlots.filter { $0.kind == .recoveryCode }
    let removing = devices.map { "'\(path) slots remove \($0.number)', " }
    let asking =
      switch codes.count {
      case 0: ""
      case 1: ", which asks for the recovery code"
      default: ", which asks for the recovery codes"
      }
    return "for protection of the disk too, run \(removing.joined())"
      + "'\(path) slots add --passphrase'\(asking)"
  }
}
