public import KeychainCredentials
public import KeychainSecrets
public import KeychainVaultFormat
package import PrephirencesFiles

/// Where a vault is and how it is opened.
///
/// ```swift
/// let vault = Vault(
///   configuration: .init(path: "/var/lib/mytool/vault.db", unlock: .keyFile("/etc/mytool/keychain.key")))
/// ```
public struct VaultConfiguration: Sendable {
  /// The path of the vault file; `nil` for `KEYCHAIN_VAULT`, or else
  /// `$XDG_DATA_HOME/keychain/vault.db`.
  public var path: String?

  /// How long a call may wait for another process.
  public var deadline: Duration

  /// The source of the unlocking secret.
  ///
  /// A source given here is used alone: if its secret is wrong, nothing else is tried. `nil` uses
  /// the device key, the kernel's cache, the environment, the system's credentials, and a prompt,
  /// in that order.
  public var unlock: UnlockSource?

  /// Whether and how a person may be asked for the passphrase.
  ///
  /// If `KEYCHAIN_NO_PROMPT` is set to any value, nobody is asked in any case.
  public var interaction: Interaction

  /// Called with what a person should know, such as that a new vault was created and what protects
  /// it.
  public var notice: (@Sendable (Notice) -> Void)?

  /// How long an unlocked vault stays unlocked while it is not used.
  public var idleTime: Duration

  /// Who may read the files that unlocking secrets come from, besides the user and root.
  ///
  /// `nil` uses `KEYCHAIN_ALLOW_READ`, which is `group` or `others`; if that is not set, nobody
  /// else may. Files that others can change are rejected in any case.
  public var secretFileReaders: SecretFileReaders?

  /// The environment variables to read; tests set their own.
  package var environment = EnvironmentVariables.process

  /// When all calls together, without people's answers, must have ended, and an import have read its
  /// input; `nil` if each call has ``deadline``, and input as long as it comes.
  package var commonDeadline: Deadline?

  /// Returns the deadline of a call that begins now.
  func deadlineOfCall() -> Deadline { commonDeadline ?? Deadline(after: deadline) }

  /// The cost of new passphrase slots; `nil` for the policy.
  ///
  /// Tests set a low cost.
  package var passwordHash: PasswordHash.Parameters?

  /// Describes how to open a vault.
  ///
  /// - Parameters:
  ///   - path: The path of the vault file; `nil` for the default path.
  ///   - deadline: How long a call may wait for another process; 10 seconds by default.
  ///   - unlock: The source of the unlocking secret; `nil` for the default order.
  ///   - interaction: Whether a person may be asked; denied by default.
  ///   - notice: Called with what a person should know.
  ///   - idleTime: How long the vault stays unlocked while it is not used: 15 minutes by default,
  ///     at most 12 hours.
  public init(
    path: String? = nil,
    deadline: Duration = .seconds(10),
    unlock: UnlockSource? = nil,
    interaction: Interaction = .denied,
    notice: (@Sendable (Notice) -> Void)? = nil,
    idleTime: Duration = .seconds(15 * 60)
  ) {
    self.path = path
    self.deadline = deadline
    self.unlock = unlock
    self.interaction = interaction
    self.notice = notice
    self.idleTime = idleTime
  }

  /// What a vault's file lies on; tests put a model in its place.
  var disk: any VaultDisk = LinuxDisk()

  /// Asks a person; `nil` if nobody may be asked.
  var ask: (@Sendable (PassphraseRequest) throws(KeychainError) -> SecretBytes?)? {
    guard !environment.isSet("KEYCHAIN_NO_PROMPT"), case .allowed(let ask) = interaction
    else { return nil }
    return ask
  }
}

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
