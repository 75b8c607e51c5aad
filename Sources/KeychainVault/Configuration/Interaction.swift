public import KeychainCredentials
public import KeychainSecrets
public import KeychainVaultFormat

/// Whether a person may be asked for a passphrase, or for a recovery code.
public enum Interaction: Sendable {
  /// Nobody is asked; what would need it is locked.
  case denied

  /// The closure asks a person, and returns `nil` if the person cancels.
  case allowed(@Sendable (PassphraseRequest) throws(KeychainError) -> SecretBytes?)
}

/// What a person is asked for.
public struct PassphraseRequest: Hashable, Sendable {
  /// The path of the vault.
  public let vaultPath: String

  /// ``SlotKind/passphrase``, or ``SlotKind/recoveryCode`` where nothing else is left to open the vault.
  public let kind: SlotKind

  /// Whether a recovery code can be the answer, too.
  public let takesRecoveryCode: Bool

  /// How many times the answer was wrong before; asking ends after three wrong answers.
  public let failedAttempts: Int
}
