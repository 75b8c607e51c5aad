public import KeychainCredentials

/// What happened to the credentials in a migration, or would happen.
public struct MigrationReport: Hashable, Sendable {
  /// How many credentials were copied.
  public internal(set) var copiedCount = 0

  /// How many of them replaced another one.
  public internal(set) var replacedCount = 0

  /// How many were in the target already, identical in every detail.
  public internal(set) var unchangedCount = 0

  /// How many were removed from the source.
  public internal(set) var removedCount = 0

  /// The credentials that stay where they are, ordered by identity.
  public internal(set) var obstacles: [Obstacle] = []

  /// How many credentials of other programs were left alone.
  public internal(set) var otherProgramsCount = 0

  /// How many items of the source are bound to another machine, and cannot be read on this one.
  public internal(set) var otherDeviceCount = 0

  /// Names of damaged items of the source, if they can be read.
  public internal(set) var damaged: [String] = []

  /// The services and servers that changed over: all their credentials are in the target, except
  /// those that may have been removed there.
  public internal(set) var completeServices: [CredentialIdentity] = []

  /// The services and servers that did not change over, because some credentials stay in the
  /// source.
  public internal(set) var incompleteServices: [CredentialIdentity] = []

  /// A credential that stays where it is.
  public struct Obstacle: Hashable, Sendable {
    /// What names the credential.
    public let identity: CredentialIdentity

    /// Why it stays: ``KeychainError/Code/refused`` if it must not leave the machine or may have
    /// been removed from the target, ``KeychainError/Code/alreadyExists`` if the target has a
    /// different one of its name, or the error of a store.
    public let reason: KeychainError
  }

  /// How many credentials are in both stores because their service did not change over.
  public internal(set) var strandedCount = 0

  /// Whether everything that should move is in the target.
  public var isComplete: Bool {
    obstacles.isEmpty && damaged.isEmpty && otherDeviceCount == 0
  }
}
