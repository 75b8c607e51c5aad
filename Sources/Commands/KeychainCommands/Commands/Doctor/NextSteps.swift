internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// What a person can do about a finding of a diagnosis.
enum NextStep {
  /// The recovery of a failure.
  case recover(KeychainError.Recovery)

  // Stores.
  case findStoreOfDamagedRecord(hasDeviceKey: Bool)
  case finishMigration(UnfinishedCopies)
  case reachDesktopKeyring
  case makeVault

  case closeNetrc(String)

  // Keys of the vault.
  case protectDisk
  case addSource(named: String)
  case rescue(VaultRescue, opensByDevice: Bool)
  case unlock(KeychainError.Recovery)
  case unlockEachTime
  case addDeviceOfRestoredBackup
  case makeRecoveryCode
  case addSecondSlot(to: SlotKind)
  case addAdministrator
  case replaceWeakKeyFile

  // The location of the vault, and the memory of the process.
  case moveToLocalDisk
  case leaveMemory
  case raiseMemoryLimit
  case allowMemoryLocking

  case seeWhatExpires(of: ServiceName?, inAllGroups: Bool)

  // Clients.
  case repairHelper(HelperStatus)
}

extension Diagnosis {
  var nextSteps: [NextStep] {
    let source = sourceProblem?.recovery.map { [NextStep.recover($0)] } ?? []
    return storeSteps + source + vaultSteps + expirySteps
      + helpers.filter(\.isConfiguredButUnusable).map { .repairHelper($0) }
      + openNetrcFiles.map { .closeNetrc($0) }
  }

  private var storeSteps: [NextStep] {
    let records = try? self.records.get()
    var steps: [NextStep] = []
    if records?.unreadable.isEmpty == false, failure == nil {
      steps.append(.findStoreOfDamagedRecord(hasDeviceKey: hasDeviceKey))
    }
    steps += copies.map { .finishMigration($0) }
    if let failure = probe.failure, failure.code != .locked,
      records?.places.contains(where: { $0 != .vault }) == true
    {
      steps.append(.reachDesktopKeyring)
    }
    return steps
  }

  private var vaultSteps: [NextStep] {
    if let failure { return failure.recovery.map { [.recover($0)] } ?? [] }
    guard let status, status.exists else {
      return (decision?.place ?? .vault) != .vault ? [] : [.makeVault]
    }
    return protectionSteps(status) + openingSteps(status) + slotSteps(status)
      + (status.isOnNetwork ? [.moveToLocalDisk] : []) + (status.isInMemory ? [.leaveMemory] : [])
      + memorySteps
  }

  /// Whether this machine's device key opens everything.
  private func isWeakHere(_ status: VaultStatus) -> Bool {
    grade == .weak && status.hasSlotOfThisDevice
  }

  private func protectionSteps(_ status: VaultStatus) -> [NextStep] {
    guard isWeakHere(status), status.canBeOpened else { return [] }
    return [.protectDisk] + status.unlockSources.prefix(1).map { .addSource(named: $0) }
  }

  private func openingSteps(_ status: VaultStatus) -> [NextStep] {
    guard status.canBeOpened else {
      return [.rescue(status.rescue, opensByDevice: status.hasSlotOfThisDevice)]
    }
    guard status.readable != .unlockedNow else { return [] }
    return [
      status.isCacheAvailable ? .unlock(UnlockText.howToUnlock(status.slots)) : .unlockEachTime
    ]
  }

  private func slotSteps(_ status: VaultStatus) -> [NextStep] {
    var steps: [NextStep] = []
    let hasDeviceSlot = status.slots.contains { $0.kind == .device }
    if status.canBeOpened, !status.hasSlotOfThisDevice, hasDeviceSlot {
      steps.append(.addDeviceOfRestoredBackup)
    }
    if status.canBeOpened, !status.slots.contains(where: { $0.kind == .recoveryCode }) {
      steps.append(.makeRecoveryCode)
    }
    if let only = status.fullSlots.first, status.fullSlots.count == 1, only.kind != .device {
      steps.append(status.isShared ? .addAdministrator : .addSecondSlot(to: only.kind))
    }
    return weakKeyFiles.isEmpty ? steps : steps + [.replaceWeakKeyFile]
  }

  private var memorySteps: [NextStep] {
    switch memoryLocking {
    case .available: []
    case .limited: [.raiseMemoryLimit]
    case .denied: [.allowMemoryLocking]
    }
  }

  private var expirySteps: [NextStep] {
    guard let expiry, expiry.needsAttention else { return [] }
    return [.seeWhatExpires(of: service, inAllGroups: expiry.needsAllGroups)]
  }
}

extension VaultStatus {
  fileprivate var hasSlotOfThisDevice: Bool { slots.contains { $0.isThisDevice == true } }
}

enum NextStepText {
  static func text(_ step: NextStep) -> String {
    switch step {
    case .recover(let recovery): recovery.commandText
    case .findStoreOfDamagedRecord(let hasDeviceKey):
      "for a service of a damaged record, "
        + StoreText.findingTheStore(hasDeviceKey: hasDeviceKey).commandText
    case .finishMigration(let copies): MigrationText.finishing(copies)
    case .reachDesktopKeyring:
      "services have credentials in the desktop keyring, which is not here: use them within its "
        + "session, or move them into the vault there, with '\(path) migrate'; if it is gone for "
        + "good, "
        + KeychainError.Recovery.Action.abandonSource.commandText + " makes the vault their store"
    case .closeNetrc(let file):
      "to store the passwords of \(file) and remove them from it, run '\(path) import --format "
        + "netrc \(ShellText.quoted(file)) --remove', then renew them"
    case .makeVault:
      "run '\(path) init', or store a credential with '\(path) set', which makes the vault"
    case .protectDisk: "for protection of the disk too, run '\(path) slots add --passphrase'"
    case .addSource(let name):
      "\(name) is not needed, as the device key opens the vault, which was made without it; to "
        + "have it protect the vault, run '\(path) slots add --new-passphrase-file FILE', or "
        + "'--with-key-file FILE', with the same file"
    case .rescue(let rescue, let opensByDevice):
      (opensByDevice
        ? "nothing that is here opens what is locked"
        : "only the kernel's cache opens this vault now")
        + ": \(text(rescue)), or copy the secrets out with '\(path) get' while they are readable"
    case .unlock(let way): "to unlock, \(way.commandText)"
    case .unlockEachTime: UnlockText.unlockingEachTime
    case .addDeviceOfRestoredBackup:
      "if this is a restored backup, run '\(path) slots add --device', and this machine opens the "
        + "vault as the old one did"
    case .makeRecoveryCode:
      "for a code on paper that opens the vault when all else is lost, run '\(path) recovery "
        + "create'"
    case .addSecondSlot(let kind):
      "for a second way to open the vault, run '\(path) slots add "
        + (kind == .passphrase ? "--new-key-file FILE'" : "--passphrase'")
    case .addAdministrator:
      "for a second member who administers, run '\(path) slots add --recipient RECIPIENT --may "
        + "administer'"
    case .replaceWeakKeyFile:
      "for a key file that nobody guesses, run '\(path) slots add --new-key-file FILE', and remove "
        + "the old one with '\(path) slots remove NUMBER'"
    case .moveToLocalDisk: "move the vault to a local disk, with KEYCHAIN_VAULT"
    case .leaveMemory:
      "for a vault that stays, use StateDirectory= in the unit of a service, a volume in a "
        + "container, or KEYCHAIN_VAULT and XDG_STATE_HOME"
    case .raiseMemoryLimit:
      "raise the limit of locked memory: ulimit -l, LimitMEMLOCK=8M in the unit of a service, "
        + "--ulimit memlock=8388608 for a container"
    case .allowMemoryLocking:
      "allow the call mlock: in the container's seccomp profile, or by SystemCallFilter=@memlock "
        + "in the unit of a service; the limit is not the reason"
    case .repairHelper(let status): NextHelperStep.text(status)
    case .seeWhatExpires(let service, let inAllGroups):
      "to see what expires, run '\(listing(service, inAllGroups: inAllGroups))'"
    }
  }

  static func text(_ rescue: VaultRescue) -> String {
    switch rescue {
    case .backup: "restore a backup, as the slots that open everything are damaged"
    case .deviceKey(let path): "bring back the device key of this vault, '\(path)'"
    }
  }

  private static var path: String { KeychainCommandContext.current.commandPath }

  private static func listing(_ service: ServiceName?, inAllGroups: Bool) -> String {
    var command = "\(path) list"
    if let service {
      let option = service.kind == .service ? "--service" : "--server"
      command += " \(option) \(ShellText.quoted(service.name))"
    }
    if inAllGroups { command += " --all-groups" }
    return command + " --expiring-within \(ExpirySummary.days)d"
  }
}
