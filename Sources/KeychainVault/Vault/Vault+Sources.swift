package import KeychainCredentials
internal import PrephirencesFiles
internal import SystemPackage

extension Vault {
  /// Returns what is wrong with the secret at hand that should open the vault without a person.
  ///
  /// The secret is read only when the vault has to be opened, so a mistake in it does not show
  /// while the vault is unlocked. As in unlocking, only the first source of the environment and the
  /// system's credentials counts. A passphrase is not hashed, so a wrong passphrase is not found.
  ///
  /// - Returns: Why the source does not open the vault; `nil` if nothing is wrong, there is no
  ///   source or no vault, or a source was given explicitly.
  package func sourceProblem() -> KeychainError? {
    guard configuration.unlock == nil, let source = unlocker.sources.ambient.first,
      let session = try? session()
    else { return nil }
    do throws(KeychainError) {
      try unlocker.check(source, session.head, path: session.path, session.deadline)
      return nil
    } catch {
      // A vault that is busy or unreadable is not the source's fault.
      return [.timedOut, .busy].contains(error.code) ? nil : error
    }
  }
}

extension Vault {
  /// Returns who may read files with secrets, by this vault's configuration and the environment.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if the environment
  ///   names an unknown value.
  package func secretFileReaders() throws(KeychainError) -> SecretFileReaders {
    try configuration.secretFilePolicy.readers()
  }
}

extension Unlocker {
  /// Fails if a source cannot be read, or, as far as can be checked without a hash, does not open
  /// the vault.
  fileprivate func check(
    _ source: AmbientSource, _ head: VaultHead, path: String, _ deadline: Deadline
  ) throws(KeychainError) {
    if let file = try sources.path(of: source) {
      guard let stat = try? Stat(FilePath(file)) else {
        throw .missingSource(source.name, file)
      }
      // A pipe can be read only once, and may block its readers.
      guard stat.type == .regular else { return }
    }
    guard let presented = try sources.presentAmbient() else { return }
    // If the device key opens everything, no other slot is needed.
    if head.slots(of: presented.kind).isEmpty, try device.administrator(head) != nil { return }
    guard presented.kind != .passphrase || head.slots(of: .passphrase).isEmpty else { return }
    _ = try openHoldingLock(presented, head, path, deadline)
  }
}

extension KeychainError {
  fileprivate static func missingSource(_ name: String, _ path: String) -> Self {
    Self(
      .inputOutput,
      "\(name) names \(path), which does not exist or cannot be reached, so it does not open the vault",
      recovery:
        "put the file there, or name another one; \(.lockAll) and then \(.read) show "
        + "whether it opens the vault")
  }
}
