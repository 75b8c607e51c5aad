internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Explains the state of the keychain.
struct DoctorCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Explain which store is used, what protects it, and what to do next",
    discussion: """
      Nothing is asked, started, unlocked or changed. With --service or --server the store is \
      explained that its credentials have, or would get.

      Example:
        \(keychainPath) doctor
        \(keychainPath) doctor --service example.com
      """)

  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: .init("The service that it is about", valueName: "name"), completion: .services)
  var service: String?

  @Option(
    parsing: .unconditional, help: .init("The server that it is about", valueName: "host"),
    completion: .servers)
  var server: String?

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Which store") var stores: StoreOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreOptions? { stores }

  /// It looks at many things, each of which another process may hold up.
  var asking: Asking { Asking(deadline: Deadline(after: common.deadline ?? .seconds(10))) }

  func validate() throws {
    if service != nil && server != nil {
      throw ValidationError(UsageText.serviceOrServer)
    }
  }

  func perform(in session: Session) throws(KeychainError) {
    let name =
      service.map { ServiceName(.service, $0) } ?? server.map { ServiceName(.server, $0) }
    // As if it were not set, a file that others can read would be passed over.
    _ = try translated(EnvironmentVariables.process.value("NETRC"))
    let diagnosis = Diagnosis(session, service: name)
    try CommandOutput.write(
      json
        ? try CommandOutput.json(DiagnosisJSON(diagnosis))
        : DiagnosisText(diagnosis: diagnosis).text)
    session.hintAtMissingVault()
    if let failure = diagnosis.failure ?? diagnosis.sourceProblem { throw failure }
  }
}

/// A diagnosis in JSON.
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

/// The findings of a diagnosis, without the choice of store.
private struct DiagnosisFactsJSON: Encodable {
  let path: String?
  let grade: Diagnosis.Grade?
  let vault: StatusJSON?
  let problem: String?
  let weakKeyFiles: [String]
  let openNetrcFiles: [String]
  let expired: Int?
  let expiringWithin30Days: Int?
  let expiryUnknown: Int?
  let memoryCanBeLocked: Bool
  let lockedMemoryLimit: UInt64?
  let mayAsk: Bool
  let memoryLocking: MemoryLocking
  let processFilesAreMounted: Bool
  let helpers: [HelperStatusJSON]
  let next: [String]

  init(_ diagnosis: Diagnosis) {
    path = diagnosis.path
    grade = diagnosis.grade
    vault = diagnosis.status.map { StatusJSON($0, sourceProblem: diagnosis.sourceProblem) }
    problem = (diagnosis.failure ?? diagnosis.sourceProblem)?.message
    weakKeyFiles = diagnosis.weakKeyFiles
    openNetrcFiles = diagnosis.openNetrcFiles
    expired = diagnosis.expiry?.expiredCount
    expiringWithin30Days = diagnosis.expiry?.expiringCount
    expiryUnknown = diagnosis.expiry?.unknownCount
    memoryCanBeLocked = diagnosis.canLockMemory
    lockedMemoryLimit = diagnosis.lockedMemoryLimit
    mayAsk = diagnosis.mayAsk
    memoryLocking = diagnosis.memoryLocking
    processFilesAreMounted = diagnosis.hasProcessFiles
    helpers = diagnosis.helpers.map(HelperStatusJSON.init)
    next = diagnosis.nextSteps.map(NextStepText.text)
  }
}

/// The choice of store in JSON.
struct StoresJSON: Encodable {
  let store: String?
  let collection: String?
  let chosenBy: String?
  let reason: String
  let services: [String: Int]
  let damagedRecords: [String]
  let unfinishedMigrations: [UnfinishedCopiesJSON]
  let sessionBus: SessionBusJSON?
  let desktopKeyring: DesktopKeyringJSON?

  init(_ diagnosis: Diagnosis) {
    switch diagnosis.choice {
    case .success(let decision):
      store = decision.place.name
      collection = Self.collection(decision.place)
      chosenBy = Self.word(for: decision.reason)
      reason = DiagnosisText.words(for: decision.reason)
    case .failure(let failure):
      (store, collection, chosenBy, reason) = (nil, nil, nil, failure.message)
    }
    let records = try? diagnosis.records.get()
    services = (records?.places ?? []).reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    damagedRecords = records?.unreadable ?? []
    unfinishedMigrations = diagnosis.copies.map { UnfinishedCopiesJSON($0) }
    let probe = diagnosis.probe
    sessionBus = probe.busAddress.map { SessionBusJSON(address: $0, process: probe.busProcess) }
    desktopKeyring =
      diagnosis.findsBus ? DesktopKeyringJSON(probe, diagnosis.provider) : nil
  }

  /// The collection of a place in the desktop keyring.
  static func collection(_ place: StorePlace) -> String? {
    switch place {
    case .vault: nil
    case .secretService(.default): "default"
    case .secretService(.session): "session"
    case .secretService(.named(let label)): label
    }
  }

  // Programs depend on these words, so they are independent of names in the code.
  private static func word(for reason: StoreDecision.Reason) -> String {
    switch reason {
    case .argument: "option"
    case .environment: "environment"
    case .namedVault: "namedVault"
    case .record: "record"
    case .vaultContents: "vaultContents"
    case .unlockSource: "unlockSource"
    case .keyringAvailable: "keyringAvailable"
    case .noSessionBus: "noSessionBus"
    case .keyringUnavailable: "keyringUnavailable"
    }
  }
}

/// Copies in both stores since a migration, in JSON.
struct UnfinishedCopiesJSON: Encodable {
  let from: String
  let to: String
  let copies: Int

  init(_ copies: UnfinishedCopies) {
    from = copies.source.name
    to = copies.target.name
    self.copies = copies.count
  }
}

/// The session bus in JSON.
struct SessionBusJSON: Encodable {
  let address: String
  let process: Int32?
}

/// The desktop keyring in JSON.
struct DesktopKeyringJSON: Encodable {
  let provider: String?
  let process: Int32?
  let user: UInt32?
  let program: String?
  let package: String?
  let version: String?
  let activatable: Bool
  let defaultCollection: String?
  let locked: Bool?
  let problem: String?

  init(_ probe: SecretServiceProbe, _ program: InstalledProgram?) {
    provider = program?.name ?? probe.provider?.name
    process = probe.provider?.process
    user = probe.provider?.user
    self.program = program?.path
    package = program?.package
    version = program?.version
    activatable = probe.isActivatable
    defaultCollection = probe.defaultCollection
    locked = probe.isLocked
    problem = probe.failure?.message
  }
}
