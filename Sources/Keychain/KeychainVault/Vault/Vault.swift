public import KeychainCredentials
internal import KeychainSecrets
public import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// An encrypted credential store in one file.
///
/// The file is a log of sealed changes; a copy at any moment is a good backup. The article
/// VaultFormat of `KeychainVaultFormat` specifies its bytes, and says what is visible without a
/// key. The first write creates the vault if it does not exist.
///
/// ```swift
/// let vault = Vault()
/// let identity = CredentialIdentity.genericPassword(service: "mytool", account: "me")
/// try vault.set(Credential(identity), secret: SecretBytes(copying: "hunter2"))
/// let stored = try vault.secret(for: identity)
/// ```
///
/// Handles are cheap and can be used from all threads. Several handles and processes may use one
/// vault at the same time. A forked child cannot use its parent's handle.
public final class Vault: CredentialStore {
  /// The place of a vault, and how it is opened.
  public typealias Configuration = VaultConfiguration

  /// How the vault is opened.
  public let configuration: VaultConfiguration

  let file: VaultFile
  let unlocker: Unlocker
  let observers: VaultObservers
  let quietHandle: QuietHandle?

  /// Creates a handle without reading or creating anything.
  public convenience init(configuration: Configuration = Configuration()) {
    self.init(
      configuration: configuration,
      state: StateFolder(environment: configuration.environment))
  }

  /// Creates a handle that shares what it reads from the state folder.
  package init(configuration: Configuration, state: StateFolder) {
    self.configuration = configuration
    quietHandle = nil
    file = VaultFile(configuration)
    unlocker = Unlocker(configuration, state, file)
    observers = VaultObservers(configuration, file: file, unlocker: unlocker)
  }

  /// Creates a second handle that shares everything with another one, and neither asks nor hashes.
  private init(_ vault: Vault, _ configuration: Configuration, _ quiet: QuietHandle) {
    self.configuration = configuration
    file = vault.file
    unlocker = vault.unlocker
    observers = vault.observers
    quietHandle = quiet
  }

  /// Returns the real, absolute path of the vault, whether or not it exists.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if no folder is known for a
  ///   vault, or ``KeychainError/Code/insecurePermissions`` if others could replace it.
  public func path() throws(KeychainError) -> String { try file.path().path }

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
    if opened.status.links > 1, file.noteOtherNames() {
      configuration.report(
        .otherNames,
        "the file has hard links; the next change separates it from them: \(opened.path)",
        recovery: "remove the hard links")
    }
    return VaultSession(
      file: file, opened: opened, unlocker: unlocker, deadline: deadline,
      notice: configuration.notice, quiet: quietHandle)
  }
}

extension Vault {
  /// Returns this vault with operations that neither ask nor hash; see the protocol.
  package func quiet(forbiddingDialogs: Bool) -> any BuiltInStore {
    Vault(self, configuration, QuietHandle())
  }

  /// Returns this vault with operations that neither ask nor hash, and wait for others for a time:
  /// each of them, or all together from now on.
  package func quiet(waiting time: Duration, inAll: Bool) -> Vault {
    var configuration = configuration
    if inAll {
      let deadline = Deadline(after: time)
      configuration.commonDeadline = configuration.commonDeadline.map(deadline.limited) ?? deadline
    } else {
      configuration.deadline = min(time, configuration.deadline)
    }
    return Vault(self, configuration, QuietHandle())
  }

  /// Returns this vault with operations that fail with `error` if they need something.
  package func refusing(_ error: KeychainError) -> Vault {
    Vault(self, configuration, QuietHandle(refusal: error))
  }

  /// Returns a handle that trusts the vault if it has this check, which a person compared with the
  /// one that its administrator shows.
  ///
  /// It is needed for a vault that was never seen here, and whose administration key is newer than
  /// the slot that opens it. The returned handle refuses a vault with another check. Its vault is
  /// unlocked separately from this handle's, which stays unchanged.
  public func trusting(_ check: VaultCheck) -> Vault {
    var configuration = configuration
    configuration.comparedCheck = check
    return Vault(configuration: configuration, state: unlocker.state)
  }

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
    let keys = try unlocker.member(session.opened, session.deadline, needsSecret: false).keys
    // If the file is gone, cached keys are found by the seen record.
    _ = try session.contents(keys)
    do throws(KeychainError) {
      try unlocker.cache.put(
        keys, of: head.id, at: file.records().names, fixedTime: timeout)
    } catch {
      // A vault that the device key opens is open for later commands without a cache.
      guard try unlocker.ownSlot(of: head)?.keys.readable == .unlockedNow else { throw error }
    }
  }

  /// Locks the vault, for this handle and for all programs that took its keys from the kernel.
  ///
  /// A program that was given the passphrase itself stays unlocked until it locks or its idle time
  /// ends. A vault that the device secret opens stays open to it.
  ///
  /// The keys of the vault at its path are removed, and those of the vaults that were last unlocked
  /// and seen here, also if a link has replaced the path.
  ///
  /// - Parameter all: Whether to lock items that are readable after the first unlock, too.
  /// - Throws: ``KeychainError`` if the vault cannot be read, with
  ///   ``KeychainError/Code/insecurePermissions`` if others could replace it, with
  ///   ``KeychainError/Code/damaged`` if the seen record cannot be read, so that keys may stay, or
  ///   with ``KeychainError/Code/inputOutput`` if the kernel keeps a key. All other keys are always
  ///   removed. A missing vault is not an error, unless its record cannot be read.
  public func lock(all: Bool = false) throws(KeychainError) { _ = try lockWhatWasSeen(all: all) }

  /// Locks the vault as ``lock(all:)`` does; `false` if there was neither a vault nor a record of
  /// one.
  package func lockWhatWasSeen(all: Bool) throws(KeychainError) -> Bool {
    // The file and the record may be gone, or belong to another vault.
    let files = file.seenForLocking()
    let records = files.map { (path: $0.path, content: (try? $0.read()) ?? .unreadable) }
    let unreadable = records.first { $0.content == .unreadable }
    var known = [file.knownHead?.id] + records.map { $0.content.record?.id }
    // Every key is removed before the first failure is reported.
    var isOpen = false
    for file in files {
      do { known.append(try unlocker.cache.vault(unlockedAt: file.name)) } catch { isOpen = true }
    }
    let seen = Set(known.compactMap(\.self))
    isOpen = !unlocker.lock(seen, all: all) || isOpen
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
    if all { for file in files { unlocker.cache.forget(place: file.name) } }
    // The vault here may not be the one that was seen.
    if let unreadable { throw .unknownKeysMayStay(unreadable.path) }
    return isThere || !seen.isEmpty
  }

  /// Whether changes by other processes are noticed while there are observers.
  package var noticesOtherProcesses: Bool { observers.isWatching }

  // MARK: - The places of the vault, its files and its secrets

  /// Whether a secret that unlocks is available, from an explicit source or the environment.
  public var hasUnlockSource: Bool {
    configuration.unlock != nil || !configuration.ambientSources.isEmpty
  }

  /// Whether the kernel keeps keys here; the test stores one, so use it only for hints after
  /// failures.
  package static var canStayUnlocked: Bool { KernelKeyring.failure() == nil }

  /// Returns who may read files with secrets, by this vault's configuration and the environment.
  package func secretFileReaders() throws(KeychainError) -> SecretFileReaders {
    try configuration.secretFilePolicy.readers()
  }

  /// The paths, as far as they are known, of the vault's files, of those that unlock it, and of
  /// this machine's records and locks; some are folders, some may not exist.
  package var paths: [String] {
    let locations = Locations(environment: configuration.environment)
    var paths: [String] = []
    if let vault = try? path() { paths += [vault, UnfinishedVault.name(for: vault)] }
    if let former = file.formerName { paths.append(former) }
    // The folder itself may belong to a service, which has its own files there.
    if let state = try? locations.stateFolder() {
      paths += Self.namesInState.map { "\(state)/\($0)" }
    }
    if let folder = try? locations.configurationFolder() { paths.append(folder + "/identity") }
    if let given = configuration.unlock?.path { paths.append(given) }
    return paths + configuration.ambientSources.compactMap { try? configuration.path(of: $0) }
  }

  /// The names that all parts of the keychain use in the state folder.
  private static let namesInState = [
    "device.key", "seen", "stores", "migration.copies", "choice.lock", "choice.turnstile",
    "kdf.lock", "migration.lock", "renewal.lock", "secret-service.lock",
  ]

  /// Returns the names of the sources, such as `KEYCHAIN_KEY_FILE`, whose key files have only a few
  /// readable words.
  ///
  /// It examines the files that would unlock the vault: the explicit source, or else the
  /// environment and the system's credentials. Key files are not stretched as passphrases are, so
  /// anybody who has the vault can guess such words fast. Unreadable files are skipped, because
  /// unlocking reports them.
  public func weakKeyFiles() -> [String] {
    configuration.allSources.filter { source in
      guard case .keyFile(let path) = source.kind,
        let contents = try? KeyFile.read(
          path, name: source.name, policy: configuration.secretFilePolicy)
      else { return false }
      return KeyFileText.isGuessable(contents)
    }.map(\.name)
  }

  /// Returns what is wrong with the ambient secret that opens the vault, which is not noticed while
  /// the vault is unlocked.
  ///
  /// A passphrase is not hashed, so a wrong passphrase is not found.
  package func sourceProblem() -> KeychainError? {
    guard configuration.unlock == nil, let source = configuration.ambientSources.first,
      let session = try? session()
    else { return nil }
    do throws(KeychainError) {
      try check(source, session)
      return nil
    } catch {
      // A vault that is busy or unreadable is not the source's fault.
      return [.timedOut, .busy].contains(error.code) ? nil : error
    }
  }

  /// Fails if a source cannot be read, or if it is clear without a hash that it does not open the
  /// vault.
  private func check(_ source: AmbientSource, _ session: VaultSession) throws(KeychainError) {
    let head = session.head
    if let file = try configuration.path(of: source) {
      guard let stat = try? Stat(FilePath(file)) else {
        throw KeychainError(
          .inputOutput,
          "\(source.name) names \(file), which does not exist or cannot be reached, so it does not "
            + "open the vault",
          recovery: "put the file there, or name another one; \(.lockAll) and then \(.read) show "
            + "whether it opens the vault")
      }
      // A pipe can be read only once, and may block its readers.
      guard stat.type == .regular else { return }
    }
    guard let presented = try configuration.presentFirst() else { return }
    // If the device key opens everything, no other slot is needed.
    if head.slots(of: presented.kind).isEmpty, try unlocker.openOwnSlot(of: head)?.root != nil {
      return
    }
    guard presented.kind != .passphrase || head.slots(of: .passphrase).isEmpty else { return }
    _ = try unlocker.openHoldingLock(presented, session.opened, session.deadline)
  }
}

extension UnlockSource {
  /// The path of the file; `nil` if the secret comes from elsewhere.
  fileprivate var path: String? {
    switch kind {
    case .passphrase, .recoveryCode: nil
    case .passphraseFile(let path), .keyFile(let path), .recoveryCodeFile(let path),
      .identityFile(let path):
      path
    }
  }
}
