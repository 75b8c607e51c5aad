public import KeychainCredentials
public import KeychainSecrets
public import KeychainVaultFormat

/// Whether a person may be asked for a passphrase, or for a recovery code.
public enum Interaction: Sendable {
  /// Nobody is asked; operations that would need to ask fail as locked.
  case denied

  /// The closure asks a person, and returns `nil` if the person cancels.
  case allowed(@Sendable (PassphraseRequest) throws(KeychainError) -> SecretBytes?)
}

/// What to ask a person for.
public struct PassphraseRequest: Hashable, Sendable {
  /// The path of the vault.
  public let vaultPath: String

  /// ``SlotKind/passphrase``, or ``SlotKind/recoveryCode`` if nothing else is left to open the
  /// vault.
  public let kind: SlotKind

  /// Whether the answer may also be a recovery code.
  public let takesRecoveryCode: Bool

  /// The number of wrong answers so far; asking ends after three.
  public let failedAttempts: Int
}
