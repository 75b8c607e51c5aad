package import KeychainCredentials
internal import PrephirencesFiles
internal import SystemPackage

extension Vault {
  /// What is the matter with the secret at hand by which the vault is to be opened without a person.
  ///
  /// It is read only when the vault has to be opened, so that a mistake in it does not show while the vault is
  /// unlocked. Of the environment and the system's credentials the first counts, as in unlocking. A
  /// passphrase is not hashed for this: whether it is right is not found out.
  ///
  /// - Returns: Why the source does not open the vault; `nil` if nothing is found, there is no source or no vault,
  ///   or a source was given explicitly.
  package func sourceProblem() -> KeychainError? {
    guard configuration.unlock == nil, let source = unlocker.sources.ambient.first,
      let session = try? session(), let head = try? session.readHead()
    else { return nil }
    do throws(KeychainError) {
      try unlocker.check(source, head, path: session.opened.path, session.deadline)
      return nil
    } catch {
      // What is busy, or cannot be read of the vault, is not the source's fault.
      return [.timedOut, .busy].contains(error.code) ? nil : error
    }
  }
}

extension Vault {
  /// Who may read files with secrets, as this vault is configured and the environment says.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if the environment names no such
  ///   readers.
  package func secretFileReaders() throws(KeychainError) -> SecretFileReaders {
    try configuration.secretFilePolicy.readers()
  }
}

extension Unlocker {
  /// Fails if a source cannot be read, or does not open the vault as far as that costs no hash.
  fileprivate func check(
    _ source: AmbientSource, _ head: VaultHead, path: String, _ deadline: Deadline
  ) throws(KeychainError) {
    if let file = sources.path(of: source) {
      guard let stat = try? Stat(FilePath(file)) else {
        throw .missingSource(source.name, file)
      }
      // A pipe gives what it has only once, and may keep its readers waiting.
      guard stat.type == .regular else { return }
    }
    guard let presented = try sources.presentAmbient() else { return }
    // Where the device key opens everything, no other slot is needed.
    if head.slots(presented.kind).isEmpty, try device.root(head) != nil { return }
    guard presented.kind != .passphrase || head.slots(.passphrase).isEmpty else { return }
    _ = try openHoldingLock(presented, head, path, deadline)
  }
}

extension UnlockSources {
  /// The path of the file that a source is read from; `nil` for a variable that holds the secret itself.
  fileprivate func path(of source: AmbientSource) -> String? {
    switch source {
    case .passphraseFile, .keyFile, .identityFile: policy.environment.value(source.name)
    case .passphrase: nil
    case .systemPassphrase, .systemKey: policy.credentialsFolder.map { $0 + "/" + source.name }
    }
  }
}

extension KeychainError {
  fileprivate static func missingSource(_ name: String, _ path: String) -> Self {
    Self(
      .inputOutput,
      "\(name) names \(path), which does not exist or cannot be reached: the vault does not open by it",
      recovery:
        "put the file there, or name another one; \(.lockAll) and then \(.read) show "
        + "whether it opens the vault")
  }
}
