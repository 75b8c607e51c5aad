internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import SystemPackage

struct DiagnosisText {
  let diagnosis: Diagnosis

  /// All findings, followed by the next steps.
  var facts: [(String, String)] {
    var pairs = stores
    if let path = diagnosis.path { pairs.append(("vault", path)) }
    if let status = diagnosis.status {
      pairs += vault(status)
      pairs += VaultText.problem(ofSource: diagnosis.sourceProblem)
    } else if let failure = diagnosis.vaultFailure {
      pairs.append(("problem", failure.message))
    }
    pairs += expiry + helpers + surroundings
    return pairs + diagnosis.nextSteps.map { ("next", NextStepText.text($0)) }
  }
}

// MARK: - The stores

extension DiagnosisText {
  /// The chosen store and the reason, the services' stores, and the state of the desktop keyring.
  private var stores: [(String, String)] {
    let store =
      switch diagnosis.choice {
      case .success(let decision):
        "\(StoreText.name(of: decision.place)) (\(Self.words(for: decision.reason)))"
      case .failure(let failure): "unknown: \(failure.message)"
      }
    let copies = diagnosis.copies.map {
      ("in both stores", MigrationText.inBothStores($0))
    }
    return [("store", store)] + services + copies + keyring
  }

  static func words(for reason: StoreDecision.Reason) -> String {
    switch reason {
    case .argument: "chosen by an option"
    case .environment: "chosen by KEYCHAIN_STORE"
    case .namedVault: "as a vault is named"
    case .record: "recorded when its first credential was stored"
    case .vaultContents: "as the vault has credentials of it, or may have"
    case .unlockSource: "as what opens a vault is given"
    case .keyringAvailable: "as a desktop keyring can be used"
    case .noSessionBus: "as there is no session bus"
    case .keyringUnavailable(let failure):
      "as the desktop keyring cannot be used: \(failure.message)"
    }
  }

  private var services: [(String, String)] {
    guard case .success(let records) = diagnosis.records else { return [] }
    var counts: [(place: String, count: Int)] = []
    for place in records.places.map({ StoreText.name(of: $0) }) {
      if let index = counts.firstIndex(where: { $0.place == place }) {
        counts[index].count += 1
      } else {
        counts.append((place, 1))
      }
    }
    let words = counts.sorted { $0.place > $1.place }.map { "\($0.count) in the \($0.place)" }
    return [("services", words.isEmpty ? noRecords : words.joined(separator: ", "))]
      + records.unreadable.map { ("damaged", "the record \($0)") }
  }

  /// The text for a restored vault with items, of which this machine has no records.
  private var noRecords: String {
    guard let count = diagnosis.status?.itemCount, count > 0 else { return "none recorded" }
    return "\(Words.items(count)) in the vault, no choice recorded"
  }

  private var keyring: [(String, String)] {
    let probe = diagnosis.probe
    guard diagnosis.findsBus else { return [("session bus", "none")] }
    guard let address = probe.busAddress else { return problem(probe) }
    let process = probe.busProcess.map { " (process \($0))" } ?? ""
    return [("session bus", address + process)] + provider(probe) + collection(probe)
      + problem(probe)
  }

  private func provider(_ probe: SecretServiceProbe) -> [(String, String)] {
    guard let provider = probe.provider else {
      return probe.isActivatable ? [("keyring", "started when it is needed")] : []
    }
    let program = diagnosis.provider
    let package = program?.package.map { [$0, program?.version].compactMap(\.self) } ?? []
    let facts =
      ["process \(provider.process)"] + (package.isEmpty ? [] : [package.joined(separator: " ")])
      + (provider.isOurs ? [] : ["of user \(provider.user)"])
    let name = program?.name ?? provider.name ?? "unknown"
    return [("keyring", "\(name) (\(facts.joined(separator: ", ")))")]
  }

  private func collection(_ probe: SecretServiceProbe) -> [(String, String)] {
    guard let path = probe.defaultCollection else { return [] }
    let name = path.split(separator: "/").last.map { String($0) } ?? path
    return [("default collection", "\(name), \(probe.isLocked == false ? "unlocked" : "locked")")]
  }

  private func problem(_ probe: SecretServiceProbe) -> [(String, String)] {
    guard let failure = probe.failure, failure.code != .locked else { return [] }
    return [("keyring problem", failure.message)]
  }
}

// MARK: - The vault

extension DiagnosisText {
  private func vault(_ status: VaultStatus) -> [(String, String)] {
    guard status.exists else { return [("state", VaultText.absence(status))] }
    var pairs = [("state", VaultText.state(of: status)), ("items", counts(status))]
    pairs += status.slots.map { ("opened by", words(for: $0, status)) }
    pairs += VaultText.identity(of: status)
    if let grade = diagnosis.grade { pairs.append(("protection", words(for: grade))) }
    pairs += status.losses.map { Self.words(for: $0, status) }
    let record = VaultText.words(for: status.seenRecord)
    if status.hasOtherNames { pairs.append(("other names", VaultText.otherNames)) }
    return pairs + [
      ("seen record", "\(record) (\(status.seenRecordPath))"), ("file system", fileSystem(status)),
    ]
  }

  private func words(for slot: VaultSlot, _ status: VaultStatus) -> String {
    let label = SlotNames.label(of: slot, deviceKeyExists: status.hasDeviceSecret)
    let grant =
      slot.grant == .administers && !status.isShared
      ? "opens everything" : slot.grant.description
    let cost = slot.passwordHash.map { "; \($0.memory >> 20) MiB, \($0.passes) passes" }
    return "slot \(slot.number), \(label): \(grant)" + (cost ?? "")
  }

  private func counts(_ status: VaultStatus) -> String {
    var parts = Accessibility.allCases.compactMap { accessibility in
      status.itemsByAccessibility[accessibility].map { "\($0) \(accessibility)" }
    }
    if status.damagedItemCount > 0 { parts.append("\(status.damagedItemCount) damaged") }
    return VaultText.items(of: status)
      + (parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))")
  }

  private func words(for grade: Diagnosis.Grade) -> String {
    switch grade {
    case .strong:
      "strong: locked items open only with a passphrase, key file, identity or recovery code"
    case .fair:
      "fair: a passphrase with a hash that is cheaper than usual, or a key file of a few readable "
        + "words"
    case .weak:
      "weak: a device key opens everything, which protects against other users, "
        + "not against anyone who has the disk"
    }
  }

  /// Returns what is lost with a file, or with a person's key.
  static func words(for loss: VaultLoss, _ status: VaultStatus) -> (String, String) {
    let words = words(for: loss.consequence, isOfDeviceKey: loss.key == .deviceKey)
    switch loss.key {
    case .vaultFile: return ("without the vault", "\(words) (\(status.path))")
    case .deviceKey:
      let missing = status.hasDeviceSecret ? "" : "it is missing: "
      return ("without device.key", "\(missing)\(words) (\(status.deviceSecretPath))")
    case .seenRecord: return ("without the seen record", words)
    case .slots(.passphrase): return ("without the passphrase", words)
    case .slots(.keyFile): return ("without the key file", words)
    case .slots(.recipient): return ("without the identity", words)
    case .slots(.recoveryCode): return ("without the recovery code", words)
    case .slots(.device): return ("without the device key", words)
    }
  }

  private static func words(for consequence: VaultLoss.Consequence, isOfDeviceKey: Bool) -> String {
    switch consequence {
    case .everything: "everything is lost"
    case .everythingAsNothingElseOpens: "everything is lost, as nothing else opens the vault"
    case .everythingUnlessDeviceKeyIsFound(let slot):
      "everything is lost, unless the device key of slot \(slot) is found"
    case .everythingLocked: "everything is lost except what needs no unlock"
    case .deviceItems(let count, let rest):
      "\(Words.items(count)) bound to this device \(Words.are(count)) lost; "
        + "slot \(rest.number), \(SlotNames.name(of: rest)), opens the rest"
    case .nothing(let slot) where isOfDeviceKey:
      "nothing is lost, as slot \(slot.number), \(SlotNames.name(of: slot)), opens everything"
    case .nothing(let slot): "nothing is lost, as slot \(slot.number) opens everything too"
    case .nothingWhileOthersOfItsKindOpen: "nothing is lost while another slot of its kind opens"
    case .nothingButRollbacksGoUnnoticed:
      "nothing is lost, but an older copy would not be noticed"
    }
  }

  private func fileSystem(_ status: VaultStatus) -> String {
    let name = status.fileSystem ?? "unknown"
    if status.isOnNetwork { return "\(name), a network's, where locks may not hold" }
    if let words = Self.passingPlace(status) { return "\(name), \(words)" }
    return status.isReadOnly ? "\(name), which can only be read" : name
  }

  /// Returns why a file system may be temporary, or `nil`.
  static func passingPlace(_ status: VaultStatus) -> String? {
    if status.isInMemory { return "in memory: gone when the service or the machine stops" }
    return status.fileSystem == "overlay"
      ? "in a container its own layer, which goes with the container" : nil
  }

  /// The credentials that have expired or will soon; empty if there are none.
  private var expiry: [(String, String)] {
    guard let expiry = diagnosis.expiry, expiry.needsAttention else { return [] }
    let unknown =
      expiry.unknownCount == 0
      ? "" : "; \(Words.locked(expiry.unknownCount)), so not looked at"
    let counts =
      "\(expiry.expiredCount) expired, \(expiry.expiringCount) within \(ExpirySummary.days) days"
    return [("expiry", counts + unknown)]
  }
}

// MARK: - The clients

extension DiagnosisText {
  private var helpers: [(String, String)] {
    diagnosis.helpers.map { status in
      let places = status.configuredBy.map(\.name)
      let use =
        places.isEmpty
        ? "no configuration names it" : "configured by \(places.joined(separator: ", "))"
      return ("helper", "\(status.helper.client): \(status.words); \(use)")
    }
  }
}

// MARK: - The machine, the container or the service around the vault

extension DiagnosisText {
  private var surroundings: [(String, String)] {
    var pairs: [(String, String)] = []
    if let status = diagnosis.status {
      let sources =
        ["the device key", "the kernel's cache"] + status.unlockSources
        + (status.mayAsk ? ["prompt"] : [])
      pairs.append(("cache", cache(status)))
      pairs.append(("unlocking tries", sources.joined(separator: ", ")))
    }
    pairs += diagnosis.weakKeyFiles.map { source in
      (
        "key file",
        "\(source) holds a few readable words, which are guessed fast: key files are not stretched "
          + "as passphrases are"
      )
    }
    if let folder = diagnosis.status?.emptyCredentialsFolder {
      pairs.append(
        (
          "credentials",
          "\(folder) holds neither keychain.passphrase nor keychain.key that can be read"
        ))
    }
    pairs += diagnosis.openNetrcFiles.map { ("netrc", "other users can read \($0)") }
    pairs += [("memory", memory), ("core dumps", "off for this command")]
    guard !diagnosis.hasProcessFiles else { return pairs }
    return pairs + [
      (
        "system",
        "/proc is not mounted: how much memory is free, file systems, how soon an unused vault "
          + "locks, and the name of the keyring's program are not known"
      )
    ]
  }

  private func cache(_ status: VaultStatus) -> String {
    if status.isCacheAvailable {
      return "the kernel's keyring keeps the vault unlocked between commands"
    }
    let error = status.cacheErrorNumber.map { " (\(Errno(rawValue: $0)))" } ?? ""
    return
      "the kernel's keyring cannot be used\(error), as in most containers: each command unlocks "
      + "for itself"
  }

  private var memory: String {
    let limit = diagnosis.lockedMemoryLimit.map { "\($0 >> 10) KiB" } ?? "without limit"
    return switch diagnosis.memoryLocking {
    case .available: "secrets are kept out of swap (limit: \(limit))"
    case .limited: "secrets may reach swap, as memory cannot be locked (limit: \(limit))"
    case .denied:
      "secrets may reach swap, as memory cannot be locked: the call is denied, as by a seccomp "
        + "filter"
    }
  }
}
