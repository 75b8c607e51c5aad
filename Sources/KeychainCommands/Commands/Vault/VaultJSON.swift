internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

/// A slot as JSON shows it.
struct SlotJSON: Encodable {
  let number: UInt32
  let kind: String
  let grant: String
  let memory: UInt64?
  let passes: UInt32?
  let thisDevice: Bool?
  let recipient: String?

  init(_ slot: VaultSlot) {
    number = slot.number
    kind = Self.word(for: slot.kind)
    grant = Self.word(for: slot.grant)
    memory = slot.passwordHash?.memory
    passes = slot.passwordHash?.passes
    thisDevice = slot.isThisDevice
    recipient = slot.recipient?.description
  }

  // Programs depend on these words, so they are no reflection of names in the code.

  private static func word(for kind: SlotKind) -> String {
    switch kind {
    case .passphrase: "passphrase"
    case .keyFile: "keyFile"
    case .device: "device"
    case .recoveryCode: "recoveryCode"
    case .recipient: "recipient"
    }
  }

  private static func word(for grant: SlotGrant) -> String {
    switch grant {
    case .root: "root"
    case .openTier: "openTier"
    }
  }
}

/// The state of a vault as JSON shows it.
struct StatusJSON: Encodable {
  let path: String
  let state: String
  let exists: Bool
  let wasSeen: Bool
  let readable: String?
  let cachedForSeconds: Int64?
  let cacheAvailable: Bool
  let items: Int
  let itemsByAccessibility: [String: Int]
  let counter: UInt64?
  let check: String?
  let slots: [SlotJSON]
  let damagedSlots: [UInt32]
  let deviceKey: String
  let deviceKeyExists: Bool
  let seenRecord: String
  let seenRecordPath: String
  let fileSystem: String?
  let onNetwork: Bool
  let inMemory: Bool
  let readOnly: Bool
  let unlockSources: [String]
  let sourceProblem: String?

  init(_ status: VaultStatus, sourceProblem: KeychainError? = nil) {
    self.sourceProblem = sourceProblem?.message
    path = status.path
    state = Self.state(of: status)
    exists = status.exists
    wasSeen = status.wasSeen
    readable = status.readable.map { "\($0)" }
    cachedForSeconds = Environment.listsKernelKeys ? status.cachedFor?.components.seconds : nil
    cacheAvailable = status.isCacheAvailable
    items = status.itemCount
    itemsByAccessibility = Dictionary(
      uniqueKeysWithValues: status.itemsByAccessibility.map { ($0.key.description, $0.value) })
    counter = status.counter
    check = status.check?.description
    slots = status.slots.map(SlotJSON.init)
    damagedSlots = status.damagedSlots
    deviceKey = status.deviceSecretPath
    deviceKeyExists = status.hasDeviceSecret
    seenRecord = "\(status.seenRecord)"
    seenRecordPath = status.seenRecordPath
    fileSystem = status.fileSystem
    onNetwork = status.isOnNetwork
    inMemory = status.isInMemory
    readOnly = status.isReadOnly
    unlockSources = status.unlockSources
  }

  private static func state(of status: VaultStatus) -> String {
    guard status.exists else { return "absent" }
    return status.readable == .unlockedNow ? "unlocked" : "locked"
  }
}

/// A verification as JSON shows it.
struct VerificationJSON: Encodable {
  let intact: Bool
  let items: Int
  let opened: Int
  let problems: [String]

  init(_ report: VerificationReport) {
    intact = report.isIntact
    items = report.itemCount
    opened = report.openedCount
    problems = report.problems
  }
}

/// A diagnosis as JSON shows it.
struct DiagnosisJSON: Encodable {
  private let stores: StoresJSON
  private let facts: DiagnosisFactsJSON

  init(_ diagnosis: Diagnosis) {
    stores = StoresJSON(diagnosis)
    facts = DiagnosisFactsJSON(diagnosis)
  }

  /// Puts all into one object.
  func encode(to encoder: any Encoder) throws {
    try stores.encode(to: encoder)
    try facts.encode(to: encoder)
  }
}

/// What a diagnosis found beside the choice of store.
private struct DiagnosisFactsJSON: Encodable {
  let path: String?
  let grade: Diagnosis.Grade?
  let vault: StatusJSON?
  let problem: String?
  let weakKeyFiles: [String]
  let expired: Int?
  let expiringWithin30Days: Int?
  let expiryUnknown: Int?
  let memoryCanBeLocked: Bool
  let lockedMemoryLimit: UInt64?
  let mayAsk: Bool
  let memoryLocking: MemoryLocking
  let processFilesAreMounted: Bool
  let next: [String]

  init(_ diagnosis: Diagnosis) {
    path = diagnosis.path
    grade = diagnosis.grade
    vault = diagnosis.status.map { StatusJSON($0, sourceProblem: diagnosis.sourceProblem) }
    problem = (diagnosis.failure ?? diagnosis.sourceProblem)?.message
    weakKeyFiles = diagnosis.weakKeyFiles
    expired = diagnosis.expiry?.expiredCount
    expiringWithin30Days = diagnosis.expiry?.expiringCount
    expiryUnknown = diagnosis.expiry?.unknownCount
    memoryCanBeLocked = diagnosis.canLockMemory
    lockedMemoryLimit = diagnosis.lockedMemoryLimit
    mayAsk = diagnosis.mayAsk
    memoryLocking = diagnosis.memoryLocking
    processFilesAreMounted = diagnosis.hasProcessFiles
    next = UserInterface.nextSteps(diagnosis)
  }
}
