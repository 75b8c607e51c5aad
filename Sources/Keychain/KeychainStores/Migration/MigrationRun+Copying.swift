internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

extension MigrationRun {
  /// Copies a credential, or records why it stays.
  mutating func copy(_ credential: Credential) throws(KeychainError) {
    do throws(KeychainError) {
      guard canLeave(credential) else { throw .boundToDevice(credential) }
      try migration.mayChangeOver?(credential.identity.withoutAccount)
      try transfer(credential.identity)
    } catch {
      // The next listing shows what happened to it.
      if error.code == .versionConflict || error.code == .notFound { return }
      guard error.concernsOneCredential else { throw error }
      ledger.note(error, about: credential)
    }
  }

  /// Returns whether a credential may be copied; one that is bound to this machine may only if the
  /// target keeps it so.
  func canLeave(_ credential: Credential) -> Bool {
    !credential.accessibility.isThisDeviceOnly || target.bindsToDevice
  }

  private mutating func transfer(_ identity: CredentialIdentity) throws(KeychainError) {
    // A program that bypasses the choice may have removed it.
    guard let original = try source.secret(for: identity) else { return }
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

  /// Returns whether a credential that is missing in the target may have been removed there.
  ///
  /// Everything of a service was copied before the target became its store. Items of other programs
  /// stay in the source anyway, so for them this is `false`.
  private func wasRemoved(_ credential: Credential) throws(KeychainError) -> Bool {
    guard !migration.isOverwriting, !credential.isOfOtherProgram,
      try migration.isChosen?(credential.identity.withoutAccount) ?? false
    else { return false }
    // A search shows an item of another program under only one of its names.
    return try target.credential(for: credential.identity) == nil
  }

  private mutating func add(_ original: borrowing StoredSecret) throws(KeychainError) {
    let identity = original.credential.identity
    do throws(KeychainError) {
      let version = try write(original, .addOnly)
      ledger.note(.added, identity, source: original.credential.version, target: version)
    } catch {
      // An item of another program may have this name, too, or another program was faster.
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
    // The other program's item stays next to ours.
    let version = try write(
      original, found.isOfOtherProgram ? .addOrReplace : .replace(version: found.version))
    ledger.note(.replaced, identity, source: original.credential.version, target: version)
  }

  /// Returns whether programs use the credential in the target, and changed it later.
  private func isNewer(
    _ found: Credential, than original: Credential
  ) throws(KeychainError) -> Bool {
    guard !found.isOfOtherProgram, found.modified > original.modified else { return false }
    return try migration.isChosen?(found.identity.withoutAccount) ?? false
  }

  /// Writes a credential to the target, reads it back, and returns its version.
  private mutating func write(
    _ original: borrowing StoredSecret, _ mode: StoreMode
  ) throws(KeychainError) -> UInt64 {
    guard !isDryRun else { return 0 }
    try migration.notes?.add(original.credential)
    copied.append(original.credential)
    let identity = original.credential.identity
    let written = try target.receive(original.credential, secret: original.secret, mode: mode)
    if let copied = try target.secret(for: identity), copied.credential.version == written.version {
      guard !copied.isSame(as: original) else { return written.version }
      // The replaced credential is already lost. A new item that differs from its original is
      // removed, unless the provider would ask first.
      if mode == .addOnly { _ = try? Self.remove(identity, version: written.version, from: target) }
      throw .cameBackChanged(identity)
    }
    throw KeychainError(.versionConflict, "\(identity) was changed while it was copied")
  }

  /// Removes a credential from the source if it still has the version that was copied.
  mutating func remove(_ credential: Credential) throws(KeychainError) -> Bool {
    let identity = credential.identity
    guard ledger.isCopied(credential) else { return false }
    do throws(KeychainError) {
      // The version of another program's item is less precise: two changes may have the same
      // version.
      if credential.isOfOtherProgram, try !isInTarget(identity) { return false }
      guard
        try Self.remove(
          identity, version: credential.version, from: source,
          includingOtherPrograms: credential.isOfOtherProgram)
      else { return false }
      ledger.noteRemoval(identity)
      return true
    } catch let error where error.concernsOneCredential {
      ledger.note(error, about: credential)
      return false
    }
  }

  /// Returns whether both stores have the same credential under a name.
  func isInTarget(_ identity: CredentialIdentity) throws(KeychainError) -> Bool {
    guard let original = try source.secret(for: identity),
      let copied = try target.secret(for: identity)
    else { return false }
    return copied.isSame(as: original)
  }

  /// Removes a credential; `false` if it is gone or was changed.
  private static func remove(
    _ identity: CredentialIdentity, version: UInt64, from store: any CredentialStore,
    includingOtherPrograms: Bool = false
  ) throws(KeychainError) -> Bool {
    do throws(KeychainError) {
      return try store.remove(
        identity, expectedVersion: version, includingOtherPrograms: includingOtherPrograms)
    } catch let error where error.code == .versionConflict {
      return false
    }
  }
}

/// What a migration knows about each credential.
struct MigrationLedger {
  /// A credential that is the same in both stores, or was until it was removed from the source.
  struct Entry {
    var sourceVersion: UInt64
    var targetVersion: UInt64
    var outcome: Outcome
    var isInSource = true
  }

  /// How a credential came to be in the target.
  enum Outcome {
    case added
    case replaced
    case unchanged
  }

  /// The names in the target; an item of another program may have more names than a search shows.
  var inTarget: Set<CredentialIdentity> = []

  private(set) var entries: [CredentialIdentity: Entry] = [:]
  private var staying: [CredentialIdentity: Staying] = [:]

  /// A credential that stays where it is.
  private struct Staying {
    let version: UInt64
    let reason: KeychainError

    /// Whether its service has left it behind.
    var isLeft = false
  }

  /// The credentials that stay where they are, ordered by description.
  var obstacles: [MigrationReport.Obstacle] {
    staying.map { .init(identity: $0.key, reason: $0.value.reason) }
      .sorted { $0.identity.description.hasLesserBytes(than: $1.identity.description) }
  }

  func count(of outcome: Outcome) -> Int { entries.values.count { $0.outcome == outcome } }

  /// Counts the matching credentials that are in both stores.
  func count(of isMeant: (CredentialIdentity) -> Bool) -> Int {
    entries.count { isMeant($0.key) && $0.value.isInSource }
  }

  /// Returns whether a credential's current version is in the target.
  func isCopied(_ credential: Credential) -> Bool {
    entries[credential.identity].map {
      $0.isInSource && $0.sourceVersion == credential.version
    } ?? false
  }

  /// Returns whether a credential's current version stays where it is.
  func stays(_ credential: Credential) -> Bool {
    staying[credential.identity]?.version == credential.version
  }

  /// Returns whether a credential stays in a source that its service has left.
  func isLeft(_ credential: Credential) -> Bool {
    stays(credential) && staying[credential.identity]?.isLeft ?? false
  }

  /// Forgets why credentials stayed.
  mutating func beginAgain() { staying = [:] }

  /// Records that a credential is in the target.
  mutating func note(
    _ outcome: Outcome, _ identity: CredentialIdentity, source: UInt64, target: UInt64
  ) {
    let before = entries[identity]?.outcome
    // What this run has added still counts as added if it begins again.
    let isKnown = before == .added || outcome == .unchanged
    entries[identity] = Entry(
      sourceVersion: source, targetVersion: target, outcome: isKnown ? before ?? outcome : outcome)
    staying[identity] = nil
    inTarget.insert(identity)
  }

  /// Records why a credential stays.
  mutating func note(_ reason: KeychainError, about credential: Credential) {
    staying[credential.identity] = Staying(version: credential.version, reason: reason)
  }

  /// Records that a credential stays in a source that its service has left.
  mutating func noteLeft(_ credential: Credential) {
    staying[credential.identity] = Staying(
      version: credential.version, reason: .wasRemoved(credential), isLeft: true)
  }

  mutating func noteRemoval(_ identity: CredentialIdentity) {
    entries[identity]?.isInSource = false
  }
}
