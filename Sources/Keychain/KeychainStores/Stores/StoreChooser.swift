public import KeychainCredentials
internal import KeychainSecretService
internal import KeychainVault
internal import PrephirencesSystem

/// Decides which store a service has.
final class StoreChooser: Sendable {
  let records: StoreRecords
  private let configuration: AutomaticStore.Configuration
  private let vault: Vault
  private let keyring: SecretServiceStore
  private let automatic = PosixMutex<StoreDecision?>(nil)

  /// Locked while the desktop keyring is probed, which may take long.
  private let deciding = PosixMutex()

  init(
    _ configuration: AutomaticStore.Configuration, _ records: StoreRecords, _ vault: Vault,
    _ keyring: SecretServiceStore
  ) {
    self.configuration = configuration
    self.vault = vault
    self.keyring = keyring
    self.records = records
  }

  /// The store that was chosen for all services.
  func explicit() throws(KeychainError) -> StoreDecision? {
    if let choice = configuration.choice, let place = place(of: choice) {
      return StoreDecision(place: place, reason: .argument)
    }
    if configuration.vault.path != nil, !configuration.hasFallbackPath {
      return StoreDecision(place: .vault, reason: .namedVault)
    }
    if configuration.choice == nil,
      let name = try translated(configuration.vault.environment.value("KEYCHAIN_STORE"))
    {
      guard let choice = StoreChoice(rawValue: name) else { throw .unknownStore(name) }
      if let place = place(of: choice) { return StoreDecision(place: place, reason: .environment) }
    }
    guard
      configuration.vault.path != nil || configuration.vault.environment.isSet("KEYCHAIN_VAULT")
    else { return nil }
    return StoreDecision(place: .vault, reason: .namedVault)
  }

  /// Returns the store that a service has now, or would get with a first credential.
  func decision(for service: ServiceName) throws(KeychainError) -> StoreDecision {
    if let decision = try existingDecision(for: service) { return decision }
    return try ofFirstCredential(automaticDecision())
  }

  /// Returns the decision for a service's first credential, for which the desktop keyring may ask
  /// to create its missing collection.
  ///
  /// Reading or removing finds nothing in such a keyring, and does not ask.
  private func ofFirstCredential(_ decision: StoreDecision) -> StoreDecision {
    decision.lacksCollection && keyring.canPrompt ? usingKeyring : decision
  }

  /// Returns the same without waiting for a provider of the desktop keyring.
  func decisionAtHand(
    for service: ServiceName, adding: Bool
  ) throws(KeychainError) -> Attempt<StoreDecision> {
    if let decision = try existingDecision(for: service) { return .done(decision) }
    let known = automatic.withLock { automatic in
      automatic = automatic ?? decisionWithoutKeyring
      return automatic
    }
    if let known { return .done(adding ? ofFirstCredential(known) : known) }
    return .needs(Need { [self] () throws(KeychainError) in _ = try automaticDecision() })
  }

  /// Returns the store that a service has, or that was chosen for it; `nil` if there is none yet.
  func existingDecision(for service: ServiceName) throws(KeychainError) -> StoreDecision? {
    if let explicit = try explicit() { return explicit }
    if let place = try records.place(of: service) {
      return StoreDecision(place: place, reason: .record)
    }
    switch try vault.presence(of: service.query) {
    case .present, .unknown: return StoreDecision(place: .vault, reason: .vaultContents)
    case .absent:
      // A vault that this device key does not open may belong to a key that is restored later. It
      // must not be replaced by a new one, so nothing can be recorded.
      guard try vault.hasDeviceSecret() else {
        try checkNoRecordIsLost(service)
        return StoreDecision(place: .vault, reason: .vaultContents)
      }
    case .noVault: if try !vault.hasDeviceSecret() { try checkNoRecordIsLost(service) }
    }
    // As if they were not set, a desktop with a keyring would look like a server without one.
    for name in ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"] {
      _ = try translated(configuration.vault.environment.value(name))
    }
    return nil
  }

  /// Returns the store in which a service's credentials are to be found.
  ///
  /// For a service without a store, a locked keyring may have some: other programs record nothing.
  /// Unlike a missing keyring, it is not skipped, and is inspected again each time, because it may
  /// have been unlocked since.
  func decisionForReading(_ service: ServiceName) throws(KeychainError) -> StoreDecision {
    if let decision = try existingDecision(for: service) { return decision }
    let known = try automaticDecision()
    guard known.lockedKeyring != nil else { return known }
    let decision = try decideAgain()
    if let failure = decision.lockedKeyring { throw .mayBeInKeyring(service, failure) }
    return decision
  }

  private func decideAgain() throws(KeychainError) -> StoreDecision { try decided { _ in nil } }

  /// Returns the store for services that have none yet.
  ///
  /// It is decided once in a process, and again if a locked keyring has to be read.
  func automaticDecision() throws(KeychainError) -> StoreDecision { try decided { $0 } }

  /// Returns the result of `known` for the last decision, or else a new decision.
  private func decided(
    _ known: (StoreDecision?) -> StoreDecision?
  ) throws(KeychainError) -> StoreDecision {
    try deciding.withLock { () -> Result<StoreDecision, KeychainError> in
      if let decision = known(automatic.withLock({ $0 })) { return .success(decision) }
      return Result { () throws(KeychainError) in
        let decision = try decide()
        automatic.withLock { $0 = decision }
        return decision
      }
    }.get()
  }

  /// The decision for services that have no store yet, if the desktop keyring does not matter.
  private var decisionWithoutKeyring: StoreDecision? {
    guard configuration.vault.unlock == nil else {
      return StoreDecision(place: .vault, reason: .unlockSource)
    }
    return keyring.findsBus ? nil : StoreDecision(place: .vault, reason: .noSessionBus)
  }

  private func decide() throws(KeychainError) -> StoreDecision {
    if let decision = decisionWithoutKeyring { return decision }
    switch keyring.access() {
    case .free: return usingKeyring
    case .afterQuestion(let failure):
      return keyring.canPrompt
        ? usingKeyring : StoreDecision(place: .vault, reason: .keyringUnavailable(failure))
    case .withoutCollection(let failure):
      return StoreDecision(
        place: .vault, reason: .keyringUnavailable(failure), lacksCollection: true)
    case .none(let failure):
      return StoreDecision(place: .vault, reason: .keyringUnavailable(failure))
    case .unknown(let failure): throw failure
    }
  }

  /// Returns the decision from the result of a probe, which starts and unlocks nothing.
  func decision(by probe: SecretServiceProbe) throws(KeychainError) -> StoreDecision {
    if let decision = decisionWithoutKeyring { return decision }
    guard let failure = probe.failure else { return usingKeyring }
    guard failure.code == .locked || failure.isAbsenceOfKeyring else { throw failure }
    let mayBecomeUsable =
      failure.code == .locked ? keyring.canPrompt : probe.provider == nil && probe.isActivatable
    return mayBecomeUsable
      ? usingKeyring : StoreDecision(place: .vault, reason: .keyringUnavailable(failure))
  }

  private var usingKeyring: StoreDecision {
    StoreDecision(
      place: .secretService(configuration.secretService.collection), reason: .keyringAvailable)
  }

  private func place(of choice: StoreChoice) -> StorePlace? {
    switch choice {
    case .automatic: nil
    case .vault: .vault
    case .secretService: .secretService(configuration.secretService.collection)
    }
  }

  /// Without the device key, the records exist but cannot be matched to services.
  private func checkNoRecordIsLost(_ service: ServiceName) throws(KeychainError) {
    guard try !records.all().unreadable.isEmpty else { return }
    throw KeychainError(
      .damaged,
      "which store has \(service) is not known, as this machine's device.key is gone",
      recovery: .nameStoreOrRestoreDeviceKey)
  }
}

extension StoreDecision {
  /// Why the keyring cannot be read, if the vault was chosen because the keyring is locked.
  var lockedKeyring: KeychainError? {
    guard case .keyringUnavailable(let failure) = reason, failure.code == .locked else {
      return nil
    }
    return failure
  }
}

extension KeychainError {
  /// The error for a keyring that cannot be read, and may have the credentials of a service.
  static func mayBeInKeyring(_ service: ServiceName, _ failure: KeychainError) -> Self {
    Self(
      .locked, "\(failure.message), and may have the credentials of \(service)",
      recovery: "unlock it at the desktop, or allow questions there; \(.useVault) or "
        + "KEYCHAIN_STORE=vault uses the vault without it",
      underlying: failure.underlying)
  }

  fileprivate static func unknownStore(_ name: String) -> Self {
    Self(
      .invalidArgument, "KEYCHAIN_STORE: there is no store '\(name)'",
      recovery: "use vault, secret-service or auto")
  }
}

/// The store of a service, and the reason.
public struct StoreDecision: Hashable, Sendable {
  /// The place of its credentials.
  public let place: StorePlace

  /// The reason for the place.
  public let reason: Reason

  /// Whether the vault was chosen because the keyring has no collection.
  var lacksCollection = false

  /// The reasons for a store, in order of precedence.
  @nonexhaustive public enum Reason: Hashable, Sendable {
    /// The program or the command line chose it.
    case argument

    /// `KEYCHAIN_STORE` chose it.
    case environment

    /// A vault was named, by an argument or by `KEYCHAIN_VAULT`.
    case namedVault

    /// It was recorded when the first credential of the service was stored.
    case record

    /// The vault has credentials of the service, or may have some that are listed only when it is
    /// unlocked.
    case vaultContents

    /// A passphrase or key of the vault was given.
    case unlockSource

    /// The desktop keyring can be used.
    case keyringAvailable

    /// There is no session bus.
    case noSessionBus

    /// The desktop keyring cannot be used, for this reason.
    case keyringUnavailable(KeychainError)
  }

  /// Whether the store was chosen explicitly, whatever the service has.
  var isExplicit: Bool {
    switch reason {
    case .argument, .environment, .namedVault: true
    default: false
    }
  }

  /// Whether the decision can be recorded.
  ///
  /// Credentials in a named vault are found when the vault is named again, and the session's
  /// collection ends with the session.
  var canBeRecorded: Bool { reason != .namedVault && !place.endsWithSession }
}
