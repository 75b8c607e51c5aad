internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores
internal import KeychainVault

extension UserInterface {
  /// Which store is used and why, what the services have, and what there is of a desktop keyring.
  static func stores(_ diagnosis: Diagnosis) -> [(String, String)] {
    var pairs: [(String, String)] = []
    switch diagnosis.outlook.decision {
    case .success(let decision):
      pairs.append(("store", "\(name(of: decision.place)) (\(reason(decision.reason)))"))
    case .failure(let failure): pairs.append(("store", "unknown: \(failure.message)"))
    }
    pairs += services(diagnosis)
    pairs += diagnosis.outlook.copies.map { ("in both stores", inBothStores($0)) }
    pairs += keyring(diagnosis)
    return pairs
  }

  /// What to do about records of stores that cannot be read; without the device key, none can.
  static func findingTheStore(hasDeviceKey: Bool) -> KeychainError.Recovery {
    hasDeviceKey ? .nameStoreAndRemoveRecord : .nameStoreOrRestoreDeviceKey
  }

  /// What to do where another store was chosen than the one that a service has.
  static func lookingElsewhere(_ place: StorePlace) -> String {
    "this service has its credentials in the \(name(of: place)); without the choice of a store, "
      + "that is where they are looked for"
  }

  /// What to do where services have their credentials in a keyring that is not here.
  static func storeSteps(_ diagnosis: Diagnosis) -> [String] {
    let records = try? diagnosis.outlook.records.get()
    var steps: [String] = []
    if records?.unreadable.isEmpty == false, diagnosis.failure == nil {
      let step = findingTheStore(hasDeviceKey: diagnosis.hasDeviceKey)
      steps.append("for a service of a damaged record, " + step.commandText)
    }
    steps += diagnosis.outlook.copies.map(finishing)
    guard let failure = diagnosis.outlook.probe.failure, failure.code != .locked,
      records?.places.contains(where: { $0.kind == .secretService }) == true
    else { return steps }
    let path = KeychainCommandContext.current.commandPath
    return steps + [
      "services have credentials in the desktop keyring, which is not here: use them within its "
        + "session, or move them into the vault there, with '\(path) migrate'"
    ]
  }

  static func name(of place: StorePlace) -> String {
    switch place {
    case .vault: "vault"
    case .secretService(.default): "desktop keyring"
    case .secretService(.session): "desktop keyring, until the end of the session"
    case .secretService(.named(let label)): "desktop keyring, collection '\(label)'"
    }
  }

  static func reason(_ reason: StoreDecision.Reason) -> String {
    switch reason {
    case .argument: "chosen by an option"
    case .environment: "chosen by KEYCHAIN_STORE"
    case .namedVault: "as a vault is named"
    case .record: "recorded when its first credential was stored"
    case .vaultContents: "as the vault has credentials of it, or may have"
    case .unlockSource: "as what opens a vault is given"
    case .keyringAvailable: "as a desktop keyring can be used"
    case .noSessionBus: "as there is no session bus"
    case .keyringUnavailable(let failure):
      "as the desktop keyring cannot be used: \(failure.message)"
    }
  }

  private static func services(_ diagnosis: Diagnosis) -> [(String, String)] {
    let outlook = diagnosis.outlook
    guard case .success(let records) = outlook.records else { return [] }
    var counts: [(place: String, count: Int)] = []
    for place in records.places.map(name) {
      if let index = counts.firstIndex(where: { $0.place == place }) {
        counts[index].count += 1
      } else {
        counts.append((place, 1))
      }
    }
    let words = counts.sorted { $0.place > $1.place }.map { "\($0.count) in the \($0.place)" }
    return [("services", words.isEmpty ? noRecords(diagnosis) : words.joined(separator: ", "))]
      + records.unreadable.map { ("damaged", "the record \($0)") }
  }

  /// A restored vault has items, and nothing is recorded of it here.
  private static func noRecords(_ diagnosis: Diagnosis) -> String {
    guard let count = diagnosis.status?.itemCount, count > 0 else { return "none recorded" }
    return "\(items(count)) in the vault, no choice recorded"
  }

  private static func keyring(_ diagnosis: Diagnosis) -> [(String, String)] {
    let probe = diagnosis.outlook.probe
    guard diagnosis.outlook.findsBus else { return [("session bus", "none")] }
    guard let address = probe.busAddress else { return problem(probe) }
    let process = probe.busProcess.map { " (process \($0))" } ?? ""
    return [("session bus", address + process)] + provider(probe, diagnosis.provider)
      + collection(probe) + problem(probe)
  }

  private static func provider(
    _ probe: SecretServiceProbe, _ program: InstalledProgram?
  ) -> [(String, String)] {
    guard let provider = probe.provider else {
      return probe.isActivatable ? [("keyring", "started when it is needed")] : []
    }
    let package = program?.package.map { [$0, program?.version].compactMap(\.self) } ?? []
    let facts =
      ["process \(provider.process)"] + (package.isEmpty ? [] : [package.joined(separator: " ")])
      + (provider.isOurs ? [] : ["of user \(provider.user)"])
    let name = program?.name ?? provider.name ?? "unknown"
    return [("keyring", "\(name) (\(facts.joined(separator: ", ")))")]
  }

  private static func collection(_ probe: SecretServiceProbe) -> [(String, String)] {
    guard let path = probe.defaultCollection else { return [] }
    let name = path.split(separator: "/").last.map { String($0) } ?? path
    return [("default collection", "\(name), \(probe.isLocked == false ? "unlocked" : "locked")")]
  }

  private static func problem(_ probe: SecretServiceProbe) -> [(String, String)] {
    guard let failure = probe.failure, failure.code != .locked else { return [] }
    return [("keyring problem", failure.message)]
  }
}
