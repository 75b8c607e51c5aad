public import KeychainCredentials
internal import KeychainSecrets
public import KeychainVaultFormat
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

extension Vault {
  /// Trusts the vault for this handle, if it has this check, which a person compared with what its administrator shows.
  ///
  /// It is needed for a vault that was never seen here, and whose administration key changed since the secret that opens it was last
  /// given in a change of what opens the vault.
  ///
  /// - Parameter check: the check; a vault with another one is then refused.
  public func trust(_ check: VaultCheck) { unlocker.trust.check = check }

  /// Unlocks the vault for later commands and programs of the user.
  ///
  /// The kernel's user keyring keeps the keys as long as the vault is used at least once within
  /// each idle time (``VaultConfiguration/idleTime``), but at most 12 hours. The keys of items that
  /// are readable after the first unlock stay until the next boot. A vault that the device secret
  /// opens is open to later commands even if the kernel keeps no keys.
  ///
  /// - Parameter timeout: How long the vault stays unlocked, used or not; at most 12 hours. `nil`
  ///   uses the idle time.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/incorrectSecret`` if the passphrase or
  ///   key is wrong, ``KeychainError/Code/locked`` if no secret is available,
  ///   ``KeychainError/Code/noStore`` if there is no vault, ``KeychainError/Code/rolledBack`` if it
  ///   is not the one that was seen here, or ``KeychainError/Code/refused`` if the kernel keeps no
  ///   keys here.
  public func unlock(timeout: Duration? = nil) throws(KeychainError) {
    let session = try existingSession()
    let head = session.head
    try session.requireKnownHead()
    let keys = try unlocker.allKeys(session.opened, session.deadline)
    // When the file is gone, cached keys are found by the seen record.
    _ = try session.contents(keys)
    do throws(KeychainError) {
      try unlocker.cache.put(keys, of: head.id, fixedTime: timeout)
    } catch {
      // A vault that the device key opens is open for later commands without a cache.
      guard try unlocker.device.keys(head)?.readable == .unlockedNow else { throw error }
    }
  }

  /// Locks the vault, for this handle and for all programs that took its keys from the kernel.
  ///
  /// A program that was given the passphrase itself stays unlocked until it locks or its idle time
  /// ends. A vault that the device secret opens stays open to it.
  ///
  /// Removes the keys of the vault that was seen here last, also if a link has taken its place, and
  /// of the vault at its path now.
  ///
  /// - Parameter all: Whether to lock items that are readable after the first unlock, too.
  /// - Throws: ``KeychainError`` if the vault cannot be read, with
  ///   ``KeychainError/Code/insecurePermissions`` if others could replace it, with
  ///   ``KeychainError/Code/damaged`` if the record of what was seen cannot be read, so that keys may
  ///   stay, or with ``KeychainError/Code/inputOutput`` if the kernel keeps a key. All other keys are
  ///   removed in any case. A missing vault is not an error, unless its record cannot be read.
  public func lock(all: Bool = false) throws(KeychainError) { _ = try lockWhatWasSeen(all: all) }

  /// Locks the vault as ``lock(all:)`` does, and returns whether there was a vault, or the record of
  /// one.
  package func lockWhatWasSeen(all: Bool) throws(KeychainError) -> Bool {
    unlocker.held.forget()
    var seen: Set<VaultID> = []
    var unreadable: SeenRecordFile?
    if let head = file.knownHead { seen.insert(head.id) }
    // The file may be gone, or be of another vault.
    for file in file.seenForLocking() {
      switch file.read() {
      case .none: break
      case .unreadable: unreadable = unreadable ?? file
      case .record(let record): seen.insert(record.id)
      }
    }
    // Every key goes before the first failure is reported.
    var isOpen = !unlocker.lock(seen, all: all)
    var isThere = false
    do throws(KeychainError) {
      if let session = try session() {
        isThere = true
        isOpen = !unlocker.lock([session.head.id], all: all) || isOpen
      }
    } catch {
      guard error.code == .noStore, !seen.isEmpty else {
        throw seen.isEmpty || isOpen || unreadable != nil ? error : error.afterForgettingKeys
      }
    }
    guard !isOpen else { throw .keyStays }
    // Another vault may lie here than the one that was seen.
    if let unreadable { throw .unknownKeysMayStay(unreadable.path) }
    return isThere || !seen.isEmpty
  }
}
