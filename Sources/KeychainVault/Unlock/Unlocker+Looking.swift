internal import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

extension Unlocker {
  /// Returns the keys with which a person looks at the vault without being asked; `nil` if there are
  /// none.
  ///
  /// In a shared vault nothing of this machine opens the list of members, so a given identity does.
  /// Its keys are not kept, because looking must not unlock the vault.
  func keysToLook(
    _ head: VaultHead, _ path: String, _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys? {
    if let keys = try keysAtHand(.nothing, head) { return keys }
    guard let (file, name) = givenIdentity, let stat = try? Stat(FilePath(file)),
      // A pipe can be read only once, and may block its readers.
      stat.type == .regular
    else { return nil }
    // Opening the vault reports what is wrong with the identity.
    guard let presented = try? sources.present(.identityFile(file, named: name)) else { return nil }
    return (try? open(presented, head, path, deadline))?.opened.keys
  }

  private var givenIdentity: (file: String, name: String)? {
    if let source = configuration.unlock {
      guard case .identityFile(let path) = source.kind else { return nil }
      return (path, source.name)
    }
    guard sources.ambient.first == .identityFile else { return nil }
    return (try? sources.path(of: .identityFile)).map { ($0, AmbientSource.identityFile.name) }
  }
}
