public import KeychainCredentials
public import KeychainSecretService
public import KeychainVault
internal import Synchronization

/// The store that fits the machine: the desktop keyring on a desktop, the vault elsewhere.
///
/// ```swift
/// let store = AutomaticStore(configuration: .init(interaction: .terminal, notice: Notice.writeToStandardError))
/// let identity = CredentialIdentity.genericPassword(service: "mytool", account: "me")
/// try store.store(Credential(identity), secret: SecretBytes(copying: "hunter2"))
/// let decision = try store.decision(for: identity)   // which store, and why
/// ```
///
/// The choice is made for each service (or server) when its first credential is stored. It is
/// reported through ``Configuration-swift.struct/notice`` and recorded: from then on the service's
/// credentials are in that store and in no other. If the store is missing, as the desktop keyring
/// in a cron job, calls throw ``KeychainError/Code/noStore``; they never use the other one instead.
/// The order of precedence is:
///
/// 1. an explicit choice: ``Configuration-swift.struct/choice``, the path of a vault, `KEYCHAIN_STORE`
///    (`vault`, `secret-service` or `auto`), or `KEYCHAIN_VAULT`;
/// 2. the record of the service; a vault that has credentials of the service counts as a record;
/// 3. the vault, if a passphrase or key for it is given (``VaultConfiguration/unlock``);
/// 4. the desktop keyring, if there is a session bus, this user runs a provider of the Secret
///    Service on it, and its collection can be used without asking, or asking is allowed;
/// 5. the vault.
///
/// If the vault is left only because the keyring is locked, it takes first credentials of services.
/// Reading, changing and removing then throw ``KeychainError/Code/locked`` for services that have
/// nothing in the vault, because the keyring may have items of other programs for them.
///
/// A keyring that is silent, or whose answers are not valid, is not missing: calls for services
/// without a store throw its error, such as ``KeychainError/Code/timedOut``, and nothing is written
/// or recorded. A bus that refuses the connection is missing.
///
/// An explicit choice that differs from the record is followed, and reported when it writes; the
/// record stays. A keyring is recorded when it has shown that it can store the credential, before
/// the credential is written. The fourth step runs at most once in a process, and again where a
/// locked keyring has to be read. Records outlive the last credential of their service;
/// ``migration(from:to:)`` moves a service to another store.
///
/// While a service moves, no credential is lost and no old one is found. Programs that change
/// credentials through the choice share a lock in the state folder during the choice and the
/// change. A migration holds it exclusively while it copies the last changes and updates the
/// records. They wait for each other up to the vault's deadline, and then throw
/// ``KeychainError/Code/busy``. Under the lock no passphrase is hashed and no person is asked, with
/// one exception: a provider may ask before it changes an item, such as before it removes one. A
/// program may wait for that answer while it shares the lock; a migration never does while it holds
/// the lock exclusively. Reading takes no lock: it is repeated if a service has changed over
/// meanwhile. A program that follows an explicit choice, or uses a ``Vault`` or
/// ``SecretServiceStore`` itself, bypasses the choice: what it writes to a store that a service has
/// left stays there.
public final class AutomaticStore: CredentialStore, BuiltInStore {
  /// How the stores are opened, and how one is chosen.
  public let configuration: Configuration

  /// The vault, whether or not it is used.
  public let vault: Vault

  /// Where the records and locks of the choice are.
  let state: StateFolder

  let chooser: StoreChooser
  let choiceLock: ChoiceLock
  let observing = StoreObserving()

  /// A list, since there are few, and the first use of a dictionary takes longer.
  private let keyrings = Mutex<[SecretServiceStore]>([])

  /// Creates a handle.
  ///
  /// Nothing is read before the first use.
  ///
  /// - Parameter configuration: How the stores are opened, and how one is chosen.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    state = StateFolder(environment: configuration.vault.environment)
    vault = Vault(configuration: configuration.vault, state: state)
    let keyring = SecretServiceStore(configuration: configuration.secretService)
    choiceLock = ChoiceLock(state)
    chooser = StoreChooser(configuration, StoreRecords(in: state), vault, keyring)
    keyrings.withLock { $0.append(keyring) }
  }

  /// The record of each service's store.
  package var records: StoreRecords { chooser.records }

  /// Returns the store that a service has or would get, and why, without changing or recording
  /// anything.
  ///
  /// Without a record, a provider of the desktop keyring may be started; no person is asked.
  ///
  /// - Parameter identity: A credential of the service or server.
  /// - Returns: The store and the reason.
  /// - Throws: ``KeychainError`` if the store cannot be determined, such as with
  ///   ``KeychainError/Code/damaged`` for a damaged record, or ``KeychainError/Code/timedOut`` for
  ///   a keyring that is silent.
  public func decision(for identity: CredentialIdentity) throws(KeychainError) -> StoreDecision {
    try chooser.decision(for: ServiceName(identity))
  }

  /// Returns one of the stores, independent of the choice.
  ///
  /// - Parameter place: The place.
  /// - Returns: The store at that place.
  public func store(at place: StorePlace) -> any CredentialStore {
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
    /// With `nil`, `KEYCHAIN_STORE` decides; with ``StoreChoice/automatic``, each service has its
    /// own.
    public var choice: StoreChoice?

    /// How the vault is opened.
    ///
    /// A path in it chooses the vault.
    public var vault: Vault.Configuration

    /// How the desktop keyring is used, and the collection for new credentials.
    public var secretService: SecretServiceStore.Configuration

    /// Called with what a person should know, such as which store a service got.
    ///
    /// It must not use the store.
    public var notice: (@Sendable (Notice) -> Void)?

    /// Whether the vault's path is only the host's default, which does not override
    /// `KEYCHAIN_STORE`.
    package var hasFallbackPath = false

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - choice: The store that is used for every service; `nil` to choose for each.
    ///   - vault: How the vault is opened.
    ///   - secretService: How the desktop keyring is used.
    ///   - interaction: Whether and how a person may be asked: for the passphrase of the vault by
    ///     this closure, and by the desktop keyring in its dialogs. If `nil`, `vault` and
    ///     `secretService` decide; both deny it by default.
    ///   - notice: Called with what a person should know; if `nil`, the vault's own closure.
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
}
