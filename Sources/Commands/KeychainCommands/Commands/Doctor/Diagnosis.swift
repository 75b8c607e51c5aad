internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesSystem

/// The state of the keychain, found without asking or changing anything.
struct Diagnosis {
  /// How well the vault is protected.
  enum Grade: String {
    case strong, fair, weak
  }

  /// The store of the service, or for a new one, with the reason.
  let choice: Result<StoreDecision, KeychainError>

  /// The state of the desktop keyring.
  let probe: SecretServiceProbe

  /// Whether a session bus exists.
  let findsBus: Bool

  /// The stores of all services, and the paths of records that cannot be read.
  let records: Result<(places: [StorePlace], unreadable: [String]), KeychainError>

  /// Copies of unfinished migrations, whose services still use the source.
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

  /// Why the secret that should unlock the vault automatically cannot be used.
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

  /// The helpers that are installed, or that a client is configured to use.
  let helpers: [HelperStatus]

  /// Whether `/proc` is mounted, which shows memory, mounts and processes.
  let hasProcessFiles: Bool

  /// Examines the store that a service has or would get; `nil` for a new service.
  init(_ session: Session, service: ServiceName?) throws(KeychainError) {
    let stores = try session.stores
    let vault = stores.vault
    let probe = stores.probeKeyring()
    self.probe = probe
    findsBus = stores.findsBus
    choice = Result { () throws(KeychainError) in
      try stores.decision(for: service, by: probe)
    }
    records = Result { () throws(KeychainError) in try stores.records.all() }
    copies = stores.unfinishedCopies()
    provider = probe.provider.map { InstalledProgram(process: $0.process) }
    hasDeviceKey = (try? vault.hasDeviceSecret()) ?? false
    weakKeyFiles = vault.weakKeyFiles()
    sourceProblem = vault.sourceProblem()
    expiry = ExpirySummary(stores, session.context, service: service)
    self.service = service
    openNetrcFiles = NetrcPlaces(session.environment).openToOthers
    canLockMemory = ProcessProtection.canLockMemory
    lockedMemoryLimit = ProcessProtection.lockedMemoryLimit
    mayAsk = session.prompt != nil
    memoryLocking = ProcessProtection.memoryLocking
    hasProcessFiles = access("/proc/self", F_OK) == 0
    helpers = Self.helpers(session.context, session.environment)
    do throws(KeychainError) {
      let status = try vault.status()
      (self.status, path, vaultFailure) = (status, status.path, Self.problem(of: status))
    } catch {
      (status, path, vaultFailure) = (nil, try? vault.path(), error)
    }
  }

  /// Returns the helpers that a person has set up; links are not run.
  private static func helpers(
    _ context: KeychainCommandContext, _ environment: EnvironmentVariables
  ) -> [HelperStatus] {
    guard let host = try? InstalledHost(context, environment) else { return [] }
    return HelperProgram.allCases.map { HelperStatus($0, host) }
      .filter { $0.state != .missing || !$0.configuredBy.isEmpty }
  }

  /// The decision, or `nil` if unknown.
  var decision: StoreDecision? { try? choice.get() }

  /// Why the chosen store, or a store that services use, cannot be used.
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

  var grade: Grade? {
    status.flatMap { Self.grade($0, hasWeakKeyFile: !weakKeyFiles.isEmpty) }
  }

  /// Returns the grade of a vault, which is that of the weakest slot that opens everything.
  ///
  /// A weak key file may belong to another vault; if this vault has a slot for a key file, the file
  /// is assumed to be its.
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
      recovery: "mount its volume, restore a backup, or start over with "
        + "\(.createVault(startingAnew: true))")
  }

  static func nothingOpens(_ status: VaultStatus) -> Self {
    Self(
      .locked, "nothing that is here opens '\(status.path)'",
      recovery: .advice(NextStepText.text(status.rescue)))
  }
}

/// What is lost if a file or a key is lost.
struct VaultLoss {
  /// What may be lost.
  enum Key: Equatable {
    case vaultFile
    case deviceKey
    case seenRecord

    /// All slots of a kind that a person or a service has.
    case slots(SlotKind)
  }

  enum Consequence: Equatable {
    case everything
    case everythingAsNothingElseOpens

    /// Everything, unless the slot's device key is found on another machine.
    case everythingUnlessDeviceKeyIsFound(slot: UInt32)

    /// Everything, except items that need no unlock.
    case everythingLocked

    /// The items that are bound to this device; a slot opens the rest.
    case deviceItems(count: Int, rest: VaultSlot)

    case nothing(as: VaultSlot)
    case nothingWhileOthersOfItsKindOpen
    case nothingButRollbacksGoUnnoticed
  }

  let key: Key
  let consequence: Consequence
}

/// How to open a vault again if no key on this machine opens it.
enum VaultRescue: Equatable {
  case backup
  case deviceKey(path: String)
}

extension VaultStatus {
  /// Whether the vault is shared: its list of members says so, or its slots if the list is locked.
  var isShared: Bool { kind.map { $0 == .shared } ?? (hasSharedGrant || isOpenedByPeopleAlone) }

  /// Whether a slot has a grant that only shared vaults have.
  private var hasSharedGrant: Bool {
    slots.contains { [.readsAndWrites, .reads].contains($0.grant) }
  }

  /// Whether only identities and a recovery code open it; this is true for each shared vault, and
  /// for another vault only if its other slots were removed.
  private var isOpenedByPeopleAlone: Bool {
    slots.contains { $0.kind == .recipient }
      && slots.allSatisfy { [.recipient, .recoveryCode].contains($0.kind) }
  }

  /// Whether only the slots show that it is shared.
  var isSharedByLooks: Bool { kind == nil && isShared && !hasSharedGrant }

  /// The slots that open everything, and may change the slots.
  var fullSlots: [VaultSlot] { slots.filter { $0.grant == .administers } }

  /// Whether anything opens the whole vault: this machine's device key, or a person's key.
  var canBeOpened: Bool {
    fullSlots.contains { $0.kind != .device || $0.isThisDevice == true }
  }

  /// How to open the vault again if no key on this machine opens it.
  var rescue: VaultRescue {
    fullSlots.contains { $0.kind == .device } ? .deviceKey(path: deviceSecretPath) : .backup
  }

  var losses: [VaultLoss] {
    let kinds: [SlotKind] = [.passphrase, .keyFile, .recipient, .recoveryCode]
    // No device key opens a shared vault.
    let device = isShared ? [] : [VaultLoss(key: .deviceKey, consequence: lossOfDeviceKey)]
    return [VaultLoss(key: .vaultFile, consequence: .everything)] + device
      + kinds.compactMap { kind in
        lossOfSlots(of: kind).map { VaultLoss(key: .slots(kind), consequence: $0) }
      } + [VaultLoss(key: .seenRecord, consequence: .nothingButRollbacksGoUnnoticed)]
  }

  private var lossOfDeviceKey: VaultLoss.Consequence {
    guard let other = fullSlots.first(where: { $0.kind != .device }) else {
      return .everythingAsNothingElseOpens
    }
    let bound = itemsByAccessibility.filter { $0.key.isThisDeviceOnly }.values.reduce(0, +)
    return bound > 0 ? .deviceItems(count: bound, rest: other) : .nothing(as: other)
  }

  /// Returns what is lost with a person's only slot of a kind, or `nil` if there is no such slot.
  private func lossOfSlots(of kind: SlotKind) -> VaultLoss.Consequence? {
    guard fullSlots.contains(where: { $0.kind == kind }) else { return nil }
    let others = fullSlots.filter { $0.kind != kind }
    if let other = others.first(where: { $0.kind != .device || $0.isThisDevice == true }) {
      return .nothing(as: other)
    }
    if fullSlots.count(where: { $0.kind == kind }) > 1 { return .nothingWhileOthersOfItsKindOpen }
    if let other = others.first { return .everythingUnlessDeviceKeyIsFound(slot: other.number) }
    return slots.contains { $0.isThisDevice == true } ? .everythingLocked : .everything
  }
}

/// How many credentials need a new secret soon, if that can be read without unlocking.
struct ExpirySummary: Hashable, Sendable {
  /// The number of days that count as soon.
  static let days = 30

  let expiredCount: Int

  let expiringCount: Int

  /// The number of locked credentials, whose expiry is not known.
  let unknownCount: Int

  /// Whether some of them are in a named access group, which `list` shows only on request.
  let needsAllGroups: Bool

  /// Whether anything should be done.
  var needsAttention: Bool { expiredCount + expiringCount > 0 }

  init(_ found: CredentialSearchResult, now: Date = Date()) {
    let soon = now.addingTimeInterval(Double(Self.days) * 86_400)
    let all = found.credentials.filter { $0.isExpired(at: soon) }
    expiredCount = all.count { $0.isExpired(at: now) }
    expiringCount = all.count - expiredCount
    unknownCount = found.lockedCount
    needsAllGroups = all.contains { !$0.identity.accessGroup.isEmpty }
  }

  /// Counts the credentials of a service, or all that the host shows; `nil` if none can be read.
  init?(_ stores: AutomaticStore, _ context: KeychainCommandContext, service: ServiceName?) {
    let query = service?.query ?? context.narrow(CredentialQuery())
    guard let found = stores.glance(query, .whole) else { return nil }
    self.init(found)
  }
}

/// A running program, and the Debian package that installed it.
struct InstalledProgram: Hashable {
  /// The path of the program, if the system reports it.
  let path: String?

  /// The last part of the path: the kernel's name of a process has at most 15 bytes.
  var name: String? { path.flatMap { $0.split(separator: "/").last }.map { String($0) } }

  /// The package with that path.
  var package: String?

  /// The version of the package.
  var version: String?

  init(process: Int32) {
    path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
    guard let path, let package = Self.package(of: path) else { return }
    self.package = package
    version = Self.version(of: package)
  }

  private static let database = "/var/lib/dpkg"

  /// Searches the packages' lists of installed files.
  private static func package(of path: String) -> String? {
    let folder = database + "/info"
    let lists = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    // Packages from before /bin became a link list their files there.
    let short = path.hasPrefix("/usr/") ? String(path.dropFirst(4)) : path
    let wanted = [path, short].map { Data("\n\($0)\n".utf8) }
    for list in lists where list.hasSuffix(".list") {
      guard let files = FileManager.default.contents(atPath: "\(folder)/\(list)"),
        wanted.contains(where: { files.firstRange(of: $0) != nil })
      else { continue }
      return String(list.dropLast(".list".count)).split(separator: ":").first.map { String($0) }
    }
    return nil
  }

  private static func version(of package: String) -> String? {
    guard let status = FileManager.default.contents(atPath: database + "/status"),
      let start = status.firstRange(of: Data("Package: \(package)\n".utf8)),
      let end = status[start.upperBound...].firstRange(of: Data("\n\n".utf8))
    else { return nil }
    let entry = String(decoding: status[start.upperBound..<end.lowerBound], as: UTF8.self)
    let prefix = "Version: "
    return entry.split(separator: "\n").first { $0.hasPrefix(prefix) }
      .map { String($0.dropFirst(prefix.count)) }
  }
}
