internal import KeychainCredentials

/// What a migration knows of each credential.
struct MigrationLedger {
  /// A credential that is the same in both stores, or was until it was removed from the source.
  struct Entry {
    var sourceVersion: UInt64
    var targetVersion: UInt64
    var outcome: Outcome

    /// Whether this run wrote the version that is in the target.
    var isOurs: Bool
    var isInSource = true
  }

  /// What was done for a credential to be in the target.
  enum Outcome {
    case added
    case replaced
    case unchanged
  }

  /// The names that the target has; its items of other programs may have more than a search shows.
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

  /// The credentials that stay where they are, ordered by what describes them.
  var obstacles: [MigrationReport.Obstacle] {
    staying.map { .init(identity: $0.key, reason: $0.value.reason) }
      .sorted { $0.identity.description.hasLesserBytes(than: $1.identity.description) }
  }

  func count(of outcome: Outcome) -> Int { entries.values.count { $0.outcome == outcome } }

  /// How many of some credentials are in both stores.
  func count(of isMeant: (CredentialIdentity) -> Bool) -> Int {
    entries.count { isMeant($0.key) && $0.value.isInSource }
  }

  /// Whether a credential is in the target, as it is now.
  func isCopied(_ credential: Credential) -> Bool {
    entries[credential.identity].map {
      $0.isInSource && $0.sourceVersion == credential.version
    } ?? false
  }

  /// Whether a credential stays where it is, as it is now.
  func stays(_ credential: Credential) -> Bool {
    staying[credential.identity]?.version == credential.version
  }

  /// Whether a credential stays where it is, and its service does not.
  func isLeft(_ credential: Credential) -> Bool {
    stays(credential) && staying[credential.identity]?.isLeft ?? false
  }

  /// Whether nothing is left to be done about a credential, as it is now.
  func isSettled(_ credential: Credential) -> Bool {
    isCopied(credential) || stays(credential)
  }

  /// Notes that a credential is in the target.
  mutating func note(
    _ outcome: Outcome, _ identity: CredentialIdentity, source: UInt64, target: UInt64
  ) {
    let before = entries[identity]
    // Another program may have written the same.
    let wasOurs = before.map { $0.isOurs && $0.targetVersion == target } ?? false
    entries[identity] = Entry(
      sourceVersion: source, targetVersion: target,
      // What this run has added remains an addition, however often it changes.
      outcome: before?.outcome == .added || outcome == .unchanged
        ? before?.outcome ?? outcome : outcome,
      isOurs: outcome != .unchanged || wasOurs)
    staying[identity] = nil
    inTarget.insert(identity)
  }

  /// Notes why a credential stays.
  mutating func note(_ reason: KeychainError, about credential: Credential) {
    staying[credential.identity] = Staying(version: credential.version, reason: reason)
  }

  /// Notes that a credential stays in a source that its service has left.
  mutating func noteLeft(_ credential: Credential) {
    staying[credential.identity] = Staying(
      version: credential.version, reason: .wasRemoved(credential), isLeft: true)
  }

  /// Notes that a credential was removed from the source.
  mutating func noteRemoval(_ identity: CredentialIdentity) {
    entries[identity]?.isInSource = false
  }

  /// Forgets a credential that somebody else has removed from the source.
  mutating func forget(_ identity: CredentialIdentity) {
    entries[identity] = nil
    staying[identity] = nil
  }

  /// The names of which something is known, and that should be in the source.
  var expected: [CredentialIdentity] {
    entries.filter(\.value.isInSource).map(\.key) + staying.keys.filter { entries[$0] == nil }
  }
}
