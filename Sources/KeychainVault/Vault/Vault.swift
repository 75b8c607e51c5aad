public import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesFiles

/// An encrypted credential store in one file.
///
/// The file is a log of sealed changes, of which a copy at any moment is a good backup. The article
/// VaultFormat of `KeychainVaultFormat` has its bytes, and says what shows without a key. The first write
/// creates the vault if it does not exist.
///
/// ```swift
/// let vault = Vault()
/// let identity = CredentialIdentity.genericPassword(service: "mytool", account: "me")
/// try vault.store(Credential(identity), secret: SecretBytes(copying: "hunter2"))
/// let stored = try vault.secret(for: identity)
/// ```
///
/// Handles are cheap and can be used from all threads. Several handles and processes may use one
/// vault at the same time. A forked child cannot use its parent's handle.
public final class Vault: CredentialStore {
  /// Where a vault lies and how it is opened.
  public typealias Configuration = VaultConfiguration

  /// How the vault is opened.
  public let configuration: VaultConfiguration

  let file: VaultFile
  let unlocker: Unlocker
  let observers: VaultObservers
  let postponed: PostponedUnlocking?

  /// Creates a handle.
  ///
  /// Nothing is read or created before its first use.
  ///
  /// - Parameter configuration: Where the vault lies and how it is opened.
  public convenience init(configuration: Configuration = Configuration()) {
    self.init(
      configuration: configuration,
      state: StateFolder(environment: configuration.environment))
  }

  /// Creates a handle that shares what it reads of the state folder.
  package init(configuration: Configuration, state: StateFolder) {
    self.configuration = configuration
    postponed = nil
    file = VaultFile(configuration)
    unlocker = Unlocker(configuration, state, file)
    observers = VaultObservers(configuration, file: file, unlocker: unlocker)
  }

  /// Creates a second handle that shares everything with another one and postpones its questions.
  init(_ vault: Vault, _ postponed: PostponedUnlocking) {
    configuration = vault.configuration
    file = vault.file
    unlocker = vault.unlocker
    observers = vault.observers
    self.postponed = postponed
  }

  /// Returns the real path of the vault, whether or not it exists.
  ///
  /// - Returns: An absolute path without symbolic links.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if there is no place for a vault,
  ///   or ``KeychainError/Code/insecurePermissions`` if others could replace it.
  public func path() throws(KeychainError) -> String {
    try file.path().path
  }

  /// Begins an operation; `nil` if there is no vault.
  func session() throws(KeychainError) -> VaultSession? {
    let deadline = configuration.deadlineOfCall()
    return try file.open().map { session($0, deadline) }
  }

  /// Begins an operation that needs an existing vault.
  func existingSession() throws(KeychainError) -> VaultSession {
    guard let session = try session() else {
      throw KeychainError(
        .noStore, "there is no vault at \(try path())",
        recovery: "create one with \(.createVault(startingAnew: false)), or store something")
    }
    return session
  }

  func session(_ opened: VaultFile.Opened, _ deadline: Deadline) -> VaultSession {
    VaultSession(
      file: file, opened: opened, unlocker: unlocker, deadline: deadline,
      notice: configuration.notice, postponed: postponed)
  }
}

extension Vault: PostponingStore {
  /// Returns this vault with operations that neither ask nor hash; see the protocol.
  package func postponing(_ question: PostponedQuestion) -> any CredentialStore {
    Vault(self, PostponedUnlocking(question))
  }
}
