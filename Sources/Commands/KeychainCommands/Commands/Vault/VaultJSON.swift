internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine

/// The state of a vault in JSON.
struct StatusJSON: Encodable {
  let path: String
  let state: String
  let exists: Bool
  let wasSeen: Bool
  let readable: String?
  let cachedForSeconds: Int64?
  let cacheAvailable: Bool
  let items: Int?
  let itemsByAccessibility: [String: Int]?
  let kind: String?
  let id: String?
  let epoch: UInt64?
  let counter: UInt64?
  let witness: String?
  let check: String?
  let slots: [SlotJSON]
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
    itemsByAccessibility = status.itemCount.map { _ in
      Dictionary(
        uniqueKeysWithValues: status.itemsByAccessibility.map { ($0.key.description, $0.value) })
    }
    kind = status.kind.map(Self.word)
    id = status.id
    epoch = status.epoch
    counter = status.counter
    witness = status.witness
    check = status.check?.description
    slots = status.slots.map(SlotJSON.init)
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

  private static func word(for kind: VaultKind) -> String {
    switch kind {
    case .local: "local"
    case .shared: "shared"
    }
  }

  private static func state(of status: VaultStatus) -> String {
    guard status.exists else { return "absent" }
    return status.readable == .unlockedNow ? "unlocked" : "locked"
  }
}

/// A verification in JSON.
struct VerificationJSON: Encodable {
  let intact: Bool
  let items: Int
  let opened: Int
  let problems: [String]
  let shadowed: [String]
  let unfinishedWrite: Bool
  let readable: String

  init(_ report: VerificationReport) {
    intact = report.isIntact
    items = report.itemCount
    opened = report.openedCount
    problems = report.problems
    shadowed = report.shadowed
    unfinishedWrite = report.hasUnfinishedWrite
    readable = "\(report.readable)"
  }
}
