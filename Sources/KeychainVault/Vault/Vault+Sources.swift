package import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

// Where the vault, its files and what unlocks it lie.
extension Vault {
  /// Whether a secret that unlocks is at hand, from an explicit source or the environment.
  public var hasUnlockSource: Bool {
    configuration.unlock != nil || !unlocker.sources.ambient.isEmpty
  }

  /// Whether the kernel keeps keys here, so that a vault stays unlocked; most containers don't allow
  /// it. It stores one as a test, so use it only for hints after failures.
  package static var canStayUnlocked: Bool { KernelKeyring.failure() == nil }

  /// Returns who may read files with secrets, by this vault's configuration and the environment.
  package func secretFileReaders() throws(KeychainError) -> SecretFileReaders {
    try configuration.secretFilePolicy.readers()
  }

  /// The paths of the files that the vault consists of, of those that unlock it, and of this
  /// machine's records and locks, as far as they are known; some are folders, some may not exist.
  package var paths: [String] {
    let locations = Locations(environment: configuration.environment)
    var paths: [String] = []
    if let vault = try? path() { paths += [vault, UnfinishedVault.name(for: vault)] }
    // The folder itself may be that of a service, which has files of its own there.
    if let state = try? locations.stateFolder() {
      paths += Self.namesInState.map { "\(state)/\($0)" }
    }
    if let folder = try? locations.configurationFolder() { paths.append(folder + "/identity") }
    if let given = configuration.unlock?.path { paths.append(given) }
    return paths + unlocker.sources.ambient.compactMap { try? unlocker.sources.path(of: $0) }
  }

  /// What all parts of the keychain keep in the state folder.
  private static let namesInState = [
    "device.key", "seen", "stores", "migration.copies", "choice.lock", "choice.turnstile",
    "kdf.lock", "renewal.lock",
  ]

  /// Returns the key files at hand that hold only a few readable words.
  ///
  /// Examines the files that would unlock the vault: the explicit source, or else the environment
  /// and the system's credentials. Key files are not stretched as passphrases are, so whoever has
  /// the vault can guess such words fast. Unreadable files are skipped: unlocking reports them.
  ///
  /// - Returns: The names of the sources, such as `KEYCHAIN_KEY_FILE`.
  public func weakKeyFiles() -> [String] {
    unlocker.sources.all.filter { source in
      guard case .keyFile(let path) = source.kind,
        let contents = try? KeyFile.read(
          path, name: source.name, policy: configuration.secretFilePolicy)
      else { return false }
      return KeyFileText.isGuessable(contents)
    }.map(\.name)
  }

  /// Returns what is wrong with the secret at hand that should open the vault without a person.
  ///
  /// A mistake in it does not show while the vault is unlocked. A passphrase is not hashed, so a wrong
  /// passphrase is not found. `nil` if nothing is wrong, there is no source or no vault, or a source
  /// was given explicitly.
  package func sourceProblem() -> KeychainError? {
    guard configuration.unlock == nil, let source = unlocker.sources.ambient.first,
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

  /// Fails if a source cannot be read, or, as far as can be checked without a hash, does not open
  /// the vault.
  private func check(_ source: AmbientSource, _ session: VaultSession) throws(KeychainError) {
    let head = session.head
    if let file = try unlocker.sources.path(of: source) {
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
    guard let presented = try unlocker.sources.presentAmbient() else { return }
    // If the device key opens everything, no other slot is needed.
    if head.slots(of: presented.kind).isEmpty, try unlocker.device.administrator(head) != nil {
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
