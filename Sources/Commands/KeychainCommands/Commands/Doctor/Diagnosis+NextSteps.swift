internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault

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
  /// The next steps, in order.
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

  /// Returns whether this machine's device key opens everything.
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
