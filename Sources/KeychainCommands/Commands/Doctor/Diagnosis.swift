internal import Glibc
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault

/// The state of the keychain, found out without asking and without changing anything.
struct Diagnosis {
  /// How well the vault is protected.
  enum Grade: String, Encodable {
    case strong, fair, weak
  }

  let outlook: StoreOutlook

  /// The program behind the desktop keyring.
  let provider: InstalledProgram?

  let path: String?
  let status: VaultStatus?

  /// What makes the vault unusable.
  let vaultFailure: KeychainError?

  /// Whether the device key exists; no record of a store can be read without it.
  let hasDeviceKey: Bool

  /// The sources that name a key file of a few readable words.
  let weakKeyFiles: [String]

  /// Why the secret that should open the vault without a person cannot be used.
  let sourceProblem: KeychainError?

  /// What expires; `nil` if no credential can be read.
  let expiry: ExpirySummary?

  /// The service or server that was named; `nil` for all.
  let service: ServiceName?

  let canLockMemory: Bool
  let lockedMemoryLimit: UInt64?
  let mayAsk: Bool
  let memoryLocking: MemoryLocking

  /// Whether `/proc` is mounted, which shows the system's memory, mounts and processes.
  let hasProcessFiles: Bool

  /// Makes a diagnosis, of the store that a service has or would get if one is named.
  init(_ session: Session, service: ServiceName?) {
    outlook = session.stores.outlook(for: service)
    provider = outlook.probe.provider.map { InstalledProgram(process: $0.process) }
    hasDeviceKey = (try? session.vault.hasDeviceSecret()) ?? false
    weakKeyFiles = session.vault.weakKeyFiles()
    sourceProblem = session.vault.sourceProblem()
    expiry = ExpirySummary(session, service: service)
    self.service = service
    canLockMemory = ProcessProtection.canLockMemory
    lockedMemoryLimit = ProcessProtection.lockedMemoryLimit
    mayAsk = session.prompt != nil
    memoryLocking = ProcessProtection.memoryLocking
    hasProcessFiles = access("/proc/self", F_OK) == 0
    do throws(KeychainError) {
      let status = try session.vault.status()
      (self.status, path, vaultFailure) = (status, status.path, Self.problem(of: status))
    } catch {
      (status, path, vaultFailure) = (nil, try? session.vault.path(), error)
    }
  }

  /// The decision, if it is known.
  var decision: StoreDecision? { try? outlook.decision.get() }

  /// Why the store in question, or one that services have, cannot be used.
  var failure: KeychainError? {
    if case .failure(let failure) = outlook.decision { return failure }
    if case .failure(let failure) = outlook.records { return failure }
    return vaultFailure ?? keyringFailure
  }

  /// Why a desktop keyring that is needed cannot be used; a locked one can.
  private var keyringFailure: KeychainError? {
    guard decision?.place.kind == .secretService, let failure = outlook.probe.failure,
      failure.code != .locked, outlook.probe.provider != nil || !outlook.probe.isActivatable
    else { return nil }
    return failure
  }

  /// The grade of the vault's protection, or `nil` without a vault.
  var grade: Grade? {
    status.flatMap { Self.grade($0, hasWeakKeyFile: !weakKeyFiles.isEmpty) }
  }

  /// A vault is as strong as the weakest slot that opens everything.
  ///
  /// Whether a weak key file is that of a slot is not tried: if the vault has a slot for a key file, it is
  /// assumed to be this one.
  static func grade(_ status: VaultStatus, hasWeakKeyFile: Bool = false) -> Grade? {
    guard status.exists else { return nil }
    let opening = status.slots.filter { $0.grant == .root }
    if opening.contains(where: { $0.kind == .device }) { return .weak }
    let isCheap = opening.contains { slot in
      slot.passwordHash.map { $0.memory < PasswordHash.Parameters.moderate.memory } ?? false
    }
    let isGuessable = hasWeakKeyFile && opening.contains { $0.kind == .keyFile }
    return isCheap || isGuessable ? .fair : .strong
  }

  /// Why a vault that can be read cannot be opened.
  static func problem(of status: VaultStatus) -> KeychainError? {
    if let failure = status.seenFailure { return failure }
    guard status.exists else { return status.wasSeen ? .vaultIsGone(status.path) : nil }
    return status.canBeOpened || status.readable != nil ? nil : .nothingOpens(status)
  }
}

extension KeychainError {
  static func vaultIsGone(_ path: String) -> Self {
    Self(
      .noStore, "'\(path)' was here before and is gone",
      recovery: "mount its volume, restore a backup, or start anew with "
        + "'\(KeychainCommandContext.current.commandPath) init --start-anew'")
  }

  static func nothingOpens(_ status: VaultStatus) -> Self {
    Self(
      .locked, "nothing that is here opens '\(status.path)'",
      recovery: NextStepText.text(status.rescue))
  }
}
