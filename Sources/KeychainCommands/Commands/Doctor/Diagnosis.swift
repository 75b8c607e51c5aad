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

  /// The store of the service, or of a new one, and why.
  let choice: Result<StoreDecision, KeychainError>

  /// What there is of a desktop keyring.
  let probe: SecretServiceProbe

  /// Whether there is a session bus to look on.
  let findsBus: Bool

  /// The stores of the services that have one, and the paths of records that cannot be read.
  let records: Result<(places: [StorePlace], unreadable: [String]), KeychainError>

  /// What migrations have copied whose services have not changed over.
  let copies: [UnfinishedCopies]

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
    let probe = session.stores.probeKeyring()
    self.probe = probe
    findsBus = session.stores.findsBus
    choice = Result { () throws(KeychainError) in
      try session.stores.decision(for: service, by: probe)
    }
    records = Result { () throws(KeychainError) in try session.stores.records.all() }
    copies = session.stores.unfinishedCopies()
    provider = probe.provider.map { InstalledProgram(process: $0.process) }
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
  var decision: StoreDecision? { try? choice.get() }

  /// Why the store in question, or one that services have, cannot be used.
  var failure: KeychainError? {
    if case .failure(let failure) = choice { return failure }
    if case .failure(let failure) = records { return failure }
    return vaultFailure ?? keyringFailure
  }

  /// Why a desktop keyring that is needed cannot be used; a locked one can.
  private var keyringFailure: KeychainError? {
    guard let place = decision?.place, place != .vault, let failure = probe.failure,
      failure.code != .locked, probe.provider != nil || !probe.isActivatable
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
        + "\(.createVault(startingAnew: true))")
  }

  static func nothingOpens(_ status: VaultStatus) -> Self {
    Self(
      .locked, "nothing that is here opens '\(status.path)'",
      recovery: .advice(NextStepText.text(status.rescue)))
  }
}
