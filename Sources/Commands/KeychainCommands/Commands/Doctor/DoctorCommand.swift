internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Explains the state of the keychain.
struct DoctorCommand: StoreSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Explain which store is used, what protects it, and what to do next",
    discussion: """
      Nothing is asked, started, unlocked or changed. With --service or --server, it explains \
      which store the credentials have, or would get.

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

  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  /// It examines many things, each of which another process may delay.
  func asking(in environment: EnvironmentVariables) -> Asking {
    Asking(deadline: Deadline(after: common.deadline ?? .seconds(10)))
  }

  func validate() throws {
    if service != nil && server != nil {
      throw ValidationError(UsageText.serviceOrServer)
    }
  }

  func perform(in session: Session) throws {
    let name =
      service.map { ServiceName(.service, $0) } ?? server.map { ServiceName(.server, $0) }
    // A file that others can read would be missed if the variable were ignored.
    _ = try session.environment.value("NETRC")
    let diagnosis = try Diagnosis(session, service: name)
    if json {
      try session.output.write(json: diagnosis)
    } else {
      try session.output.write(facts: DiagnosisText(diagnosis: diagnosis).facts)
    }
    session.hintAtMissingVault()
    if let failure = diagnosis.failure ?? diagnosis.sourceProblem { throw failure }
  }
}

extension Diagnosis: JSONConvertible {
  var json: JSONValue {
    .members(
      StoresJSON.members(self) + [
        ("path", path), ("grade", grade?.rawValue),
        ("vault", status.map { VaultText.json(of: $0, sourceProblem: sourceProblem) }),
        ("problem", (failure ?? sourceProblem)?.message), ("weakKeyFiles", weakKeyFiles),
        ("openNetrcFiles", openNetrcFiles), ("expired", expiry?.expiredCount),
        ("expiringWithin30Days", expiry?.expiringCount), ("expiryUnknown", expiry?.unknownCount),
        ("memoryCanBeLocked", canLockMemory), ("lockedMemoryLimit", lockedMemoryLimit),
        ("mayAsk", mayAsk), ("memoryLocking", memoryLocking.rawValue),
        ("processFilesAreMounted", hasProcessFiles), ("helpers", helpers),
        ("next", nextSteps.map(NextStepText.text)),
      ])
  }
}

enum StoresJSON {
  static func members(_ diagnosis: Diagnosis) -> JSONMembers {
    let choice: JSONMembers =
      switch diagnosis.choice {
      case .success(let decision):
        [
          ("store", decision.place.name), ("collection", collection(decision.place)),
          ("chosenBy", word(for: decision.reason)),
          ("reason", DiagnosisText.words(for: decision.reason)),
        ]
      case .failure(let failure): [("reason", failure.message)]
      }
    let records = try? diagnosis.records.get()
    let services: [String: Int] = (records?.places ?? [])
      .reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    let probe = diagnosis.probe
    return choice + [
      ("services", services), ("damagedRecords", records?.unreadable ?? []),
      (
        "unfinishedMigrations",
        diagnosis.copies.map {
          JSONValue.members([
            ("from", $0.source.name), ("to", $0.target.name), ("copies", $0.count),
          ])
        }
      ),
      (
        "sessionBus",
        probe.busAddress.map {
          JSONValue.members([("address", $0), ("process", probe.busProcess)])
        }
      ),
      ("desktopKeyring", diagnosis.findsBus ? keyring(probe, diagnosis.provider) : nil),
    ]
  }

  private static func keyring(
    _ probe: SecretServiceProbe, _ program: InstalledProgram?
  ) -> JSONValue {
    .members([
      ("provider", program?.name ?? probe.provider?.name), ("process", probe.provider?.process),
      ("user", probe.provider?.user), ("program", program?.path), ("package", program?.package),
      ("version", program?.version), ("activatable", probe.isActivatable),
      ("defaultCollection", probe.defaultCollection), ("locked", probe.isLocked),
      ("problem", probe.failure?.message),
    ])
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

  // Programs depend on these words, so they don't follow names in the code.
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
