internal import KeychainCredentials
internal import PrephirencesSystem

/// What a migration knows about each credential.
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

  /// How a credential came to be in the target.
  enum Outcome {
    case added
    case replaced
    case unchanged
  }

  /// The names that the target has.
  ///
  /// An item of another program may have more names than a search shows.
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

  /// Returns whether nothing is left to do for a credential's current version.
  func isSettled(_ credential: Credential) -> Bool {
    isCopied(credential) || stays(credential)
  }

  /// Records that a credential is in the target.
  mutating func note(
    _ outcome: Outcome, _ identity: CredentialIdentity, source: UInt64, target: UInt64
  ) {
    let before = entries[identity]
    // Another program may have written the same.
    let wasOurs = before.map { $0.isOurs && $0.targetVersion == target } ?? false
    entries[identity] = Entry(
      sourceVersion: source, targetVersion: target,
      // What this run has added still counts as added, however often it changes.
      outcome: before?.outcome == .added || outcome == .unchanged
        ? before?.outcome ?? outcome : outcome,
      isOurs: outcome != .unchanged || wasOurs)
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

  /// Records that a credential was removed from the source.
  mutating func noteRemoval(_ identity: CredentialIdentity) {
    entries[identity]?.isInSource = false
  }

  /// Forgets a credential that another program has removed from the source.
  mutating func forget(_ identity: CredentialIdentity) {
    entries[identity] = nil
    staying[identity] = nil
  }

  /// The names of known credentials that should be in the source.
  var expected: [CredentialIdentity] {
    entries.filter(\.value.isInSource).map(\.key) + staying.keys.filter { entries[$0] == nil }
  }
}
