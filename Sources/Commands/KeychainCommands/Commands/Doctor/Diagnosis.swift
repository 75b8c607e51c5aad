internal import Glibc
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault

/// The state of the keychain, without asking or changing anything.
struct Diagnosis {
  /// How well the vault is protected.
  enum Grade: String, Encodable {
    case strong, fair, weak
  }

  /// The store of the service, or of a new one, with the reason.
  let choice: Result<StoreDecision, KeychainError>

  /// The state of the desktop keyring.
  let probe: SecretServiceProbe

  /// Whether there is a session bus to probe.
  let findsBus: Bool

  /// The stores of all services, and the paths of records that cannot be read.
  let records: Result<(places: [StorePlace], unreadable: [String]), KeychainError>

  /// Copies of migrations whose services have not changed over.
  let copies: [UnfinishedCopies]

  /// The program of the desktop keyring.
  let provider: InstalledProgram?

  let path: String?
  let status: VaultStatus?

  /// Why the vault cannot be used.
  let vaultFailure: KeychainError?

  /// Whether the device key exists; without it, no record of a store can be read.
  let hasDeviceKey: Bool

  /// The sources of key files that contain only a few readable words.
  let weakKeyFiles: [String]

  /// Why the secret that should open the vault without a person cannot be used.
  let sourceProblem: KeychainError?

  /// The expiring credentials; `nil` if no credential can be read.
  let expiry: ExpirySummary?

  /// The given service or server; `nil` for all.
  let service: ServiceName?

  /// The netrc files that other users can read.
  let openNetrcFiles: [String]

  let canLockMemory: Bool
  let lockedMemoryLimit: UInt64?
  let mayAsk: Bool
  let memoryLocking: MemoryLocking

  /// The helpers that are set up, or that a client is told to use.
  let helpers: [HelperStatus]

  /// Whether `/proc` is mounted, which shows the system's memory, mounts and processes.
  let hasProcessFiles: Bool

  /// Creates a diagnosis of the store that a service has or would get; `nil` for a new service.
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
    openNetrcFiles = NetrcPlaces.openToOthers
    canLockMemory = ProcessProtection.canLockMemory
    lockedMemoryLimit = ProcessProtection.lockedMemoryLimit
    mayAsk = session.prompt != nil
    memoryLocking = ProcessProtection.memoryLocking
    hasProcessFiles = access("/proc/self", F_OK) == 0
    helpers = Self.helpers(session.context)
    do throws(KeychainError) {
      let status = try session.vault.status()
      (self.status, path, vaultFailure) = (status, status.path, Self.problem(of: status))
    } catch {
      (status, path, vaultFailure) = (nil, try? session.vault.path(), error)
    }
  }

  /// Returns the helpers that a person has set up; links are not run.
  private static func helpers(_ context: KeychainCommandContext) -> [HelperStatus] {
    guard let host = try? InstalledHost(context) else { return [] }
    return HelperProgram.allCases.map { HelperStatus($0, host) }
      .filter { $0.state != .missing || !$0.configuredBy.isEmpty }
  }

  /// The decision; `nil` if it is not known.
  var decision: StoreDecision? { try? choice.get() }

  /// Why the chosen store, or one that services have, cannot be used.
  var failure: KeychainError? {
    if case .failure(let failure) = choice { return failure }
    if case .failure(let failure) = records { return failure }
    return vaultFailure ?? keyringFailure
  }

  /// Why a needed desktop keyring cannot be used; a locked one can.
  private var keyringFailure: KeychainError? {
    guard let place = decision?.place, place != .vault, let failure = probe.failure,
      failure.code != .locked, probe.provider != nil || !probe.isActivatable
    else { return nil }
    return failure
  }

  /// The grade of the vault's protection; `nil` without a vault.
  var grade: Grade? {
    status.flatMap { Self.grade($0, hasWeakKeyFile: !weakKeyFiles.isEmpty) }
  }

  /// Returns the grade of a vault, which is as strong as the weakest slot that opens everything.
  ///
  /// It is not checked whether a weak key file belongs to a slot: if the vault has a slot for a key
  /// file, the file is assumed to belong to it.
  static func grade(_ status: VaultStatus, hasWeakKeyFile: Bool = false) -> Grade? {
    guard status.exists else { return nil }
    let opening = status.slots.filter { $0.grant == .administers }
    if opening.contains(where: { $0.kind == .device }) { return .weak }
    let isCheap = opening.contains { slot in
      slot.passwordHash.map { $0.memory < PasswordHash.Parameters.moderate.memory } ?? false
    }
    let isGuessable = hasWeakKeyFile && opening.contains { $0.kind == .keyFile }
    return isCheap || isGuessable ? .fair : .strong
  }

  /// Returns why a readable vault cannot be opened.
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
