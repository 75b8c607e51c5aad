internal import KeychainCredentials
internal import KeychainSecrets

extension MigrationRun {
  /// Copies a credential, or notes why it stays.
  mutating func copy(_ credential: Credential) throws(KeychainError) {
    do throws(KeychainError) {
      guard canLeave(credential) else { throw .boundToDevice(credential) }
      try migration.mayChangeOver?(credential.identity.service)
      try transfer(credential.identity)
    } catch {
      // The next listing shows what became of it.
      if error.code == .versionConflict || error.code == .notFound { return }
      guard error.concernsOneCredential else { throw error }
      ledger.note(error, about: credential)
    }
  }

  /// Whether a credential may be in the target: what is bound to this machine, only where it stays so.
  func canLeave(_ credential: Credential) -> Bool {
    !credential.accessibility.isThisDeviceOnly
      || (target as? any CredentialReceiver)?.bindsToDevice ?? false
  }

  private mutating func transfer(_ identity: CredentialIdentity) throws(KeychainError) {
    // Somebody else may have removed it.
    guard let original = try source.secret(for: identity) else { return ledger.forget(identity) }
    let version = original.credential.version
    guard isDryRun || ledger.inTarget.contains(identity),
      let found = try target.secret(for: identity)
    else {
      if try wasRemoved(original.credential) { return ledger.noteLeft(original.credential) }
      return try add(original)
    }
    if found.isSame(as: original) {
      ledger.note(.unchanged, identity, source: version, target: found.credential.version)
    } else {
      try replace(found.credential, by: original)
    }
  }

  /// Whether a credential that is missing in the target may have been removed there: everything of a service
  /// was copied before the target became its store.
  ///
  /// What other programs need stays in the source anyway, and says nothing about a removal.
  private func wasRemoved(_ credential: Credential) throws(KeychainError) -> Bool {
    guard !migration.isOverwriting, !credential.isOfOtherProgram,
      try migration.isChosen?(credential.identity.service) ?? false
    else { return false }
    // A search shows an item of another program under one of its names only.
    return try target.credential(for: credential.identity) == nil
  }

  private mutating func add(_ original: borrowing StoredSecret) throws(KeychainError) {
    let identity = original.credential.identity
    do throws(KeychainError) {
      let version = try write(original, .addOnly)
      ledger.note(.added, identity, source: original.credential.version, target: version)
    } catch {
      // Another program's item may have this name among others, or somebody was faster.
      guard error.code == .alreadyExists, ledger.inTarget.insert(identity).inserted else {
        throw error
      }
      try transfer(identity)
    }
  }

  private mutating func replace(
    _ found: Credential, by original: borrowing StoredSecret
  ) throws(KeychainError) {
    let identity = original.credential.identity
    let isUnchanged = ledger.entries[identity]?.targetVersion == found.version
    if !isUnchanged, try isNewer(found, than: original.credential) { throw .isOutOfDate(found) }
    guard isUnchanged || migration.isOverwriting else { throw .differs(found) }
    // Another program's item stays beside ours.
    let version = try write(
      original, found.isOfOtherProgram ? .addOrReplace : .replace(version: found.version))
    ledger.note(.replaced, identity, source: original.credential.version, target: version)
  }

  /// Whether programs use what the target has, and wrote it later.
  private func isNewer(
    _ found: Credential, than original: Credential
  ) throws(KeychainError) -> Bool {
    guard !found.isOfOtherProgram, found.modified > original.modified else { return false }
    return try migration.isChosen?(found.identity.service) ?? false
  }

  /// Writes a credential to the target, and reads it back.
  ///
  /// - Returns: Its version there.
  private mutating func write(
    _ original: borrowing StoredSecret, _ mode: StoreMode
  ) throws(KeychainError) -> UInt64 {
    guard !isDryRun else { return 0 }
    try migration.notes?.add(original.credential)
    noted.append(original.credential)
    let identity = original.credential.identity
    let written: Credential
    if let receiver = target as? any CredentialReceiver {
      written = try receiver.receive(original.credential, secret: original.secret, mode: mode)
    } else {
      written = try target.store(original.credential, secret: original.secret, mode: mode)
    }
    if let copied = try target.secret(for: identity), copied.credential.version == written.version {
      guard !copied.isSame(as: original) else { return written.version }
      // What was there before is gone by now; a new item that is not what it should be helps nobody.
      if mode == .addOnly {
        _ = try Self.remove(identity, version: written.version, from: target)
      }
      throw .cameBackChanged(identity)
    }
    throw KeychainError(.versionConflict, "\(identity) was changed while it was copied")
  }
}

extension MigrationRun {
  /// Removes from the target what this run has written and somebody else has removed from the source since.
  ///
  /// Only before its service changes over: then the target is where credentials are removed.
  mutating func withdraw(allBut listed: [Credential]) throws(KeychainError) {
    let names = Set(listed.map(\.identity))
    for identity in ledger.expected where !names.contains(identity) {
      // What a listing lacks may be damaged.
      guard try source.credential(for: identity) == nil else { continue }
      if let entry = ledger.entries[identity], entry.isOurs {
        try withdraw(identity, version: entry.targetVersion)
      }
      ledger.forget(identity)
    }
  }

  /// Removes a credential from the target; while others wait, a provider that asks first is put off.
  private func withdraw(
    _ identity: CredentialIdentity, version: UInt64
  ) throws(KeychainError) {
    do throws(KeychainError) {
      _ = try Self.remove(identity, version: version, from: target)
    } catch {
      guard let question, error.code == .refused else { throw error }
      throw question.postpone { [target = migration.target] () throws(KeychainError) in
        _ = try Self.remove(identity, version: version, from: target)
      }
    }
  }

  /// Removes a credential from the source, if it is the one that was copied.
  mutating func remove(_ credential: Credential) throws(KeychainError) -> Bool {
    let identity = credential.identity
    guard ledger.isCopied(credential) else { return false }
    do throws(KeychainError) {
      // The version says less of another program's item, which may change twice within one.
      if credential.isOfOtherProgram, try !isInTarget(identity) {
        ledger.forget(identity)
        return false
      }
      guard try Self.remove(identity, version: credential.version, from: source) else {
        return false
      }
      ledger.noteRemoval(identity)
      return true
    } catch {
      guard error.concernsOneCredential else { throw error }
      ledger.note(error, about: credential)
      return false
    }
  }

  /// Whether both stores have the same under a name.
  func isInTarget(_ identity: CredentialIdentity) throws(KeychainError) -> Bool {
    guard let original = try source.secret(for: identity),
      let copied = try target.secret(for: identity)
    else { return false }
    return copied.isSame(as: original)
  }

  /// Removes a credential; `false` if it is gone, or is another one by now.
  private static func remove(
    _ identity: CredentialIdentity, version: UInt64, from store: any CredentialStore
  ) throws(KeychainError) -> Bool {
    do throws(KeychainError) {
      return try store.remove(identity, expectedVersion: version)
    } catch {
      guard error.code == .versionConflict else { throw error }
      return false
    }
  }
}
