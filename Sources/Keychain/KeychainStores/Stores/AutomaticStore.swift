public import KeychainCredentials
public import KeychainSecretService
public import KeychainVault
internal import PrephirencesSystem

/// The store that fits the machine: the desktop keyring on a desktop, the vault elsewhere.
///
/// ```swift
/// let store = AutomaticStore(
///   configuration: .init(interaction: .terminal, notice: Notice.writeToStandardError))
/// let identity = CredentialIdentity.genericPassword(service: "mytool", account: "me")
/// try store.set(Credential(identity), secret: SecretBytes(copying: "hunter2"))
/// let decision = try store.decision(for: identity)   // which store, and why
/// ```
///
/// The choice is made for each service (or server) when its first credential is stored. It is
/// reported through ``Configuration-swift.struct/notice`` and recorded: from then on the service's
/// credentials are in that store and in no other. If the store is missing, as the desktop keyring
/// in a cron job, calls throw ``KeychainError/Code/noStore``; they never use the other one instead.
/// The order of precedence is:
///
/// 1. an explicit choice: ``Configuration-swift.struct/choice``, the path of a vault,
///    `KEYCHAIN_STORE` (`vault`, `secret-service` or `auto`), or `KEYCHAIN_VAULT`;
/// 2. the record of the service; a vault that has credentials of the service counts as a record;
/// 3. the vault, if a passphrase or key for it is given (``VaultConfiguration/unlock``);
/// 4. the desktop keyring, if there is a session bus, this user runs a provider of the Secret
///    Service on it, and its collection can be used without asking, or asking is allowed;
/// 5. the vault.
///
/// If the vault is chosen only because the keyring is locked, it takes first credentials of
/// services. Reading, changing and removing then throw ``KeychainError/Code/locked`` for services
/// without credentials in the vault, because the keyring may have items of other programs for them.
///
/// A keyring that is silent, or whose answers are not valid, is not missing: calls for services
/// without a store throw its error, such as ``KeychainError/Code/timedOut``, and nothing is written
/// or recorded. A bus that refuses the connection is missing.
///
/// An explicit choice that differs from the record is followed, and reported when it writes; the
/// record stays. A keyring is recorded when it has shown that it can store the credential, before
/// the credential is written. The fourth step runs at most once in a process, and again if a locked
/// keyring has to be read. Records outlive the last credential of their service;
/// ``migration(from:to:)`` moves a service to another store.
///
/// While a service moves, no credential is lost and no outdated one is found. Programs that change
/// credentials through the choice share a lock in the state folder during the choice and the
/// change. A migration holds it exclusively while it copies and updates the records. They wait for
/// each other up to the vault's deadline, and then throw ``KeychainError/Code/busy``. A program
/// that waits for a migration is told by ``Configuration-swift.struct/notice``. Under the lock no
/// passphrase is hashed and no person is asked, with one exception: a provider may ask before it
/// changes an item, such as before it removes one. A program may wait for that answer while it
/// shares the lock; a migration never does while it holds the lock exclusively. Reading takes no
/// lock: it is repeated if the record of the service has changed meanwhile.
///
/// A program that follows an explicit choice, or uses a ``Vault`` or ``SecretServiceStore`` itself,
/// bypasses the choice: credentials that it writes to a store that a service has left stay there.
public final class AutomaticStore: CredentialStore, BuiltInStore {
  /// How the stores are opened, and how one is chosen.
  public let configuration: Configuration

  /// The vault, whether or not it is used.
  public let vault: Vault

  /// The folder of the choice's records and locks.
  let state: StateFolder

  let chooser: StoreChooser
  let choiceLock: ChoiceLock
  let observing = StoreObserving()

  /// A list, because there are few, and the first use of a dictionary takes longer.
  private let keyrings = PosixMutex<[SecretServiceStore]>([])

  /// Creates a handle; nothing is read before the first use.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    state = StateFolder(environment: configuration.vault.environment)
    vault = Vault(configuration: configuration.vault, state: state)
    let keyring = SecretServiceStore(configuration: configuration.secretService)
    choiceLock = ChoiceLock(state, notice: configuration.notice)
    chooser = StoreChooser(configuration, StoreRecords(in: state), vault, keyring)
    keyrings.withLock { $0.append(keyring) }
  }

  /// The record of each service's store.
  package var records: StoreRecords { chooser.records }

  /// Returns the store that a service has or would get, and the reason, without changing or
  /// recording anything.
  ///
  /// Without a record, a provider of the desktop keyring may be started; no person is asked.
  ///
  /// - Parameter identity: A credential of the service or server.
  /// - Throws: ``KeychainError`` if the store cannot be determined, such as with
  ///   ``KeychainError/Code/damaged`` for a damaged record, or ``KeychainError/Code/timedOut`` for
  ///   a keyring that is silent.
  public func decision(for identity: CredentialIdentity) throws(KeychainError) -> StoreDecision {
    try chooser.decision(for: ServiceName(identity))
  }

  /// Returns the store at a place, whatever is chosen.
  public func store(at place: StorePlace) -> any CredentialStore { builtInStore(at: place) }

  func builtInStore(at place: StorePlace) -> any BuiltInStore {
    switch place {
    case .vault: vault
    case .secretService(let collection): keyring(collection)
    }
  }

  func keyring(_ collection: SecretServiceStore.Collection) -> SecretServiceStore {
    keyrings.withLock { keyrings in
      if let known = keyrings.first(where: { $0.configuration.collection == collection }) {
        return known
      }
      var configuration = configuration.secretService
      configuration.collection = collection
      let keyring = SecretServiceStore(configuration: configuration)
      keyrings.append(keyring)
      return keyring
    }
  }
}

extension AutomaticStore {
  /// How the stores are opened, and how one is chosen.
  public struct Configuration: Sendable {
    /// The store for every service.
    ///
    /// If it is `nil`, `KEYCHAIN_STORE` decides; with ``StoreChoice/automatic``, each service has
    /// its own.
    public var choice: StoreChoice?

    /// How the vault is opened; a path in it chooses the vault.
    public var vault: Vault.Configuration

    /// How the desktop keyring is used, and the collection for new credentials.
    public var secretService: SecretServiceStore.Configuration

    /// Called with information for a person, such as which store a service got; it must not use the
    /// store.
    public var notice: (@Sendable (Notice) -> Void)?

    /// Whether the vault's path is only the host's default, which does not override
    /// `KEYCHAIN_STORE`.
    package var hasFallbackPath = false

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - choice: The store for every service; `nil` to choose for each.
    ///   - vault: How the vault is opened.
    ///   - secretService: How the desktop keyring is used.
    ///   - interaction: Whether and how a person may be asked: for the passphrase of the vault by
    ///     this closure, and by the desktop keyring in its dialogs. If `nil`, `vault` and
    ///     `secretService` decide; both deny it by default.
    ///   - notice: Called with information for a person; if `nil`, the vault's own closure.
    public init(
      choice: StoreChoice? = nil,
      vault: Vault.Configuration = Vault.Configuration(),
      secretService: SecretServiceStore.Configuration = SecretServiceStore.Configuration(),
      interaction: Interaction? = nil,
      notice: (@Sendable (Notice) -> Void)? = nil
    ) {
      self.choice = choice
      self.vault = vault
      self.secretService = secretService
      self.notice = notice ?? vault.notice
      if self.vault.notice == nil { self.vault.notice = notice }
      guard let interaction else { return }
      self.vault.interaction = interaction
      if case .allowed = interaction {
        self.secretService.interaction = .allowed
      } else {
        self.secretService.interaction = .denied
      }
    }
  }

  // Records the store of a service.

  /// Returns the recorded place of a service's credentials if another one was chosen explicitly.
  package func placePassedOver(of identity: CredentialIdentity) -> StorePlace? {
    guard let explicit = try? chooser.explicit(), let own = ownPlace(of: ServiceName(identity)),
      own != explicit.place
    else { return nil }
    return own
  }

  /// Records the store of a service that has no record, and returns the decision that applies.
  ///
  /// The caller has made sure that the decision can be recorded. An explicit choice applies even if
  /// recording it fails. Another process may have recorded another decision first. The notice is
  /// for after the change.
  func record(
    _ decision: StoreDecision, _ service: ServiceName, _ notices: inout [ChoiceNotice]
  ) throws(KeychainError) -> StoreDecision {
    if decision.isExplicit {
      recordExplicit(decision, service, &notices)
      return decision
    }
    let isFirst = decision.reason != .vaultContents
    let notice = isFirst ? notice(about: decision, service) : nil
    let (place, isNew) = try records.record(decision.place, for: service)
    guard isNew else { return StoreDecision(place: place, reason: .record) }
    if let notice { notices.append(notice) }
    return decision
  }

  /// Makes a change, then reports the stores that were recorded for it, and whether it was made.
  func reporting<Result>(
    _ body: (inout [ChoiceNotice]) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    var notices: [ChoiceNotice] = []
    var isStored = false
    defer { for notice in notices { configuration.notice?(notice(isStored)) } }
    let result = try body(&notices)
    isStored = true
    return result
  }

  /// Gives a service the store of another decision, or refuses if it has a different one.
  func give(
    _ service: ServiceName, placeOf decision: StoreDecision, _ notices: inout [ChoiceNotice]
  ) throws(KeychainError) {
    if decision.isExplicit {
      if decision.canBeRecorded, ownPlace(of: service) == nil {
        recordExplicit(decision, service, &notices)
      }
      return
    }
    var own = StoreDecision(place: decision.place, reason: .record)
    if let found = try chooser.existingDecision(for: service) {
      own = found
    } else if try canRecord() {
      own = try record(own, service, &notices)
    }
    guard own.place == decision.place else { throw .otherStore(service, own.place) }
  }

  /// Returns the place of a service by record or contents; `nil` if it has none, or if it is
  /// unknown.
  func ownPlace(of service: ServiceName) -> StorePlace? {
    do throws(KeychainError) {
      if let place = try records.place(of: service) { return place }
      guard case .present = try vault.presence(of: service.query) else { return nil }
      return .vault
    } catch { return nil }
  }

  private func recordExplicit(
    _ decision: StoreDecision, _ service: ServiceName, _ notices: inout [ChoiceNotice]
  ) {
    do throws(KeychainError) {
      guard try canRecord() else { return }
      let notice = notice(about: decision, service)
      guard try records.record(decision.place, for: service).isNew, let notice else { return }
      notices.append(notice)
    } catch { notices.append { _ in .notRecorded(service, error) } }
  }

  /// A record needs the device key, which is not created next to a vault whose own key may be
  /// restored later.
  func canRecord() throws(KeychainError) -> Bool {
    if try vault.hasDeviceSecret() { return true }
    return try !vault.isThere()
  }

  /// Returns the notice about a service's store; `nil` if the notice about the new vault is enough.
  private func notice(about decision: StoreDecision, _ service: ServiceName) -> ChoiceNotice? {
    let named = decision.place == .vault && (try? vault.isThere()) ?? true ? vault : nil
    if named == nil, decision.place == .vault {
      guard case .keyringUnavailable = decision.reason else { return nil }
    }
    return { .chosen(service, decision, vault: named, isStored: $0) }
  }
}

/// Returns the notice about a recorded store, depending on whether the change was made.
typealias ChoiceNotice = (_ isStored: Bool) -> Notice

extension Notice {
  /// A service got its store; the vault is given only if it existed before: a new one has its own
  /// notice.
  fileprivate static func chosen(
    _ service: ServiceName, _ decision: StoreDecision, vault: Vault?, isStored: Bool
  ) -> Self {
    let place = decision.place.words
    var text =
      isStored
      ? "the credentials of \(service) are kept in \(place)"
      : "the store of \(service) is now \(place)"
    switch decision.place {
    case .secretService:
      text +=
        ": it protects them while it is locked, and shows them to every program of the "
        + "session while it is not"
    case .vault:
      if let vault {
        text += " \((try? vault.path()) ?? "")"
        if let words = protection(of: vault) { text += "; \(words)" }
      }
    }
    if case .keyringUnavailable(let failure) = decision.reason {
      text += "; the desktop keyring cannot be used now: \(failure.message)"
    }
    return Self(kind: .storeChosen, message: text)
  }

  private static func protection(of vault: Vault) -> String? {
    guard let slots = try? vault.slots() else { return nil }
    return slots.contains { $0.kind == .device && $0.grant == .administers }
      ? "it opens by this machine's device key" : "it opens by the passphrase or key it was given"
  }

  static func differs(_ service: ServiceName, _ place: StorePlace, own: StorePlace) -> Self {
    Self(
      kind: .storeDiffers,
      message: "this changes \(place.words), while \(service) has its credentials in \(own.words)")
  }

  static func notRecorded(_ service: ServiceName, _ error: KeychainError) -> Self {
    Self(
      kind: .storeChosen,
      message: "the store of \(service) could not be recorded, so name it again next time: "
        + error.message)
  }
}

extension KeychainError {
  static func otherStore(_ service: ServiceName, _ place: StorePlace) -> Self {
    Self(
      .refused, "\(service) has its credentials in \(place.words), another store",
      recovery: "move the services into one store with \(.migrate)")
  }
}
