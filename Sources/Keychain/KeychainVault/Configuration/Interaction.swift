public import KeychainSecrets
public import KeychainVaultFormat

/// Whether a person may be asked for a passphrase, or for a recovery code.
@frozen public enum Interaction: Sendable {
  /// Nobody is asked; operations that would need to ask fail as locked.
  case denied

  /// The closure asks a person, and returns `nil` if the person cancels.
  case allowed(@Sendable (PassphraseRequest) throws(KeychainError) -> SecretBytes?)
}

extension KeychainError {
  /// The error that an asking closure throws instead of asking if it had to wait for another
  /// process's question, whose answer may have unlocked the vault.
  package static let otherQuestionEnded = Self(.busy, "another question has just ended")
}

/// A question to a person.
public struct PassphraseRequest: Hashable, Sendable {
  /// The path of the vault.
  public let vaultPath: String

  /// ``SlotKind/passphrase``, or ``SlotKind/recoveryCode`` if nothing else can open the vault.
  public let kind: SlotKind

  /// Whether the answer may also be a recovery code.
  public let takesRecoveryCode: Bool

  /// The number of wrong answers so far; asking ends after three.
  public let failedAttempts: Int
}
