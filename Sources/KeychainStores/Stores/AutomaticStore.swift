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
/// The choice is made for each service (or server) when its first credential is stored, is told through
/// ``Configuration-swift.struct/notice``, and recorded: from then on the service's credentials are in that
/// store and in no other. If it is not there, as the desktop keyring in a cron job, calls throw
/// ``KeychainError/Code/noStore``; they never turn to the other one. In this order count
///
/// 1. an explicit choice: ``Configuration-swift.struct/choice``, the path of a vault, `KEYCHAIN_STORE`
///    (`vault`, `secret-service` or `auto`), or `KEYCHAIN_VAULT`;
/// 2. the record of the service; what a vault holds already counts as one;
/// 3. the desktop keyring, if there is a session bus, somebody provides the Secret Service on it as this
///    user, and its collection can be used without a question, or questions are allowed;
/// 4. the vault.
///
/// An explicit choice that differs from the record is followed, and tells so when it writes; the record
/// stays. A keyring is recorded once it has shown that it can take the credential, and before that is
/// written. The third step is taken at most once in a process. Records outlive the last credential of their
/// service; ``migration(from:to:)`` moves a service to another store.
///
/// While a service moves, nothing is lost and nothing old is found. Programs that change credentials
/// through the choice share a lock, in the state folder, over the choice and the change, which a migration
/// holds alone for its last look and the change of the records; they wait for each other up to the
/// vault's deadline, and then throw ``KeychainError/Code/busy``. No passphrase is hashed under the lock, and
/// nobody is asked, except by a provider that asks before it changes an item, such as before it removes
/// one: a program may wait for that answer while it shares the lock, a migration never does while it holds
/// the lock alone. Reading takes no lock: it is done again where a service has changed over
/// meanwhile. Whoever follows an explicit choice, or uses a ``Vault`` or ``SecretServiceStore``
/// itself, is past the choice: what they write to a store that a service has left stays there.
public final class AutomaticStore: CredentialStore {
  /// How the stores are opened, and who chooses between them.
  public let configuration: Configuration

  /// The vault, whether or not it is used.
  public let vault: Vault

  /// Where the records and locks of the choice are.
  let state: StateFolder

  let chooser: StoreChooser
  let choiceLock: ChoiceLock
  let observing = StoreObserving()
  private let keyrings = Mutex<[SecretServiceStore.Collection: SecretServiceStore]>([:])

  /// Makes a handle; nothing is looked at before the first use.
  ///
  /// - Parameter configuration: How the stores are opened, and who chooses between them.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    state = StateFolder(environment: configuration.vault.environment)
    vault = Vault(configuration: configuration.vault, state: state)
    let keyring = SecretServiceStore(configuration: configuration.secretService)
    choiceLock = ChoiceLock(state)
    chooser = StoreChooser(configuration, StoreRecords(in: state), vault, keyring)
    keyrings.withLock { $0[configuration.secretService.collection] = keyring }
  }

  /// Which store each service has.
  package var records: StoreRecords { chooser.records }

  /// Tells which store a service has or would get, and why, without changing or recording anything.
  ///
  /// Where nothing is recorded, a provider of the desktop keyring may be started; nobody is asked.
  ///
  /// - Parameter identity: A credential of the service or server.
  /// - Returns: The store and the reason.
  /// - Throws: ``KeychainError`` if that is not known, such as with ``KeychainError/Code/damaged`` for a
  ///   damaged record.
  public func decision(for identity: CredentialIdentity) throws(KeychainError) -> StoreDecision {
    try chooser.decision(for: ServiceName(identity))
  }

  /// Returns one of the stores, whatever the choice.
  ///
  /// - Parameter place: The place.
  /// - Returns: The store of that place.
  public func store(at place: StorePlace) -> any CredentialStore {
    switch place {
    case .vault: vault
    case .secretService(let collection): keyring(collection)
    }
  }

  private func keyring(_ collection: SecretServiceStore.Collection) -> SecretServiceStore {
    keyrings.withLock { keyrings in
      if let keyring = keyrings[collection] { return keyring }
      var configuration = configuration.secretService
      configuration.collection = collection
      let keyring = SecretServiceStore(configuration: configuration)
      keyrings[collection] = keyring
      return keyring
    }
  }
}

extension AutomaticStore {
  /// How the stores are opened, and who chooses between them.
  public struct Configuration: Sendable {
    /// The store that is used for every service; `nil` leaves it to `KEYCHAIN_STORE`, and
    /// ``StoreChoice/automatic`` to each service.
    public var choice: StoreChoice?

    /// How the vault is opened; a path in it chooses the vault.
    public var vault: Vault.Configuration

    /// How the desktop keyring is used, and the collection for what is new.
    public var secretService: SecretServiceStore.Configuration

    /// Is told what a person should know, such as which store a service got.
    ///
    /// It must not use the store.
    public var notice: (@Sendable (Notice) -> Void)?

    /// Whether the vault's path is what its host uses where nothing else is said, and so chooses nothing
    /// against `KEYCHAIN_STORE`.
    package var hasFallbackPath = false

    /// Describes the stores.
    ///
    /// - Parameters:
    ///   - choice: The store that is used for every service; `nil` to choose for each.
    ///   - vault: How the vault is opened.
    ///   - secretService: How the desktop keyring is used.
    ///   - interaction: Whether and how a person may be asked: for the passphrase of the vault by this
    ///     closure, and by the desktop keyring in its dialogs. `nil` leaves it to `vault` and
    ///     `secretService`, which deny it unless they say otherwise.
    ///   - notice: Is told what a person should know; the vault's own closure if `nil`.
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
