internal import KeychainCredentials
package import KeychainSecrets
@_exported public import KeychainVaultFormat
package import PrephirencesSystem

// Slots, recipients, checks and recovery codes are part of this module's API.

/// The place of a vault, and how it is opened.
///
/// ```swift
/// let vault = Vault(
///   configuration: .init(
///     path: "/var/lib/mytool/vault", unlock: .keyFile("/etc/mytool/keychain.key")))
/// ```
public struct VaultConfiguration: Sendable {
  /// The path of the vault file; `nil` for `KEYCHAIN_VAULT`, or else
  /// `$XDG_DATA_HOME/keychain/vault`.
  public var path: String?

  /// How long a call may wait for another process.
  public var deadline: Duration

  /// The source of the unlocking secret.
  ///
  /// A given source is used alone: if its secret is wrong, nothing else is tried. `nil` uses the
  /// device key, the kernel's cache, the environment, the system's credentials, and a prompt, in
  /// that order.
  public var unlock: UnlockSource?

  /// Whether and how a person may be asked for the passphrase; if `KEYCHAIN_NO_PROMPT` is set to
  /// any value, nobody is asked.
  public var interaction: Interaction

  /// Called with information for a person, such as that a new vault was created and what protects
  /// it.
  public var notice: (@Sendable (Notice) -> Void)?

  /// How long an unlocked vault stays unlocked while it is not used.
  public var idleTime: Duration

  /// The users, besides the user and root, who may read the files with unlocking secrets.
  ///
  /// `nil` uses `KEYCHAIN_ALLOW_READ`, which is `group` or `others`; if that is not set, nobody
  /// else may. Files that others can change are always rejected.
  public var secretFileReaders: SecretFileReaders?

  /// The check that the vault must have, as a person compared it; `nil` if nobody did.
  var comparedCheck: VaultCheck?

  /// The environment variables to read; tests set their own.
  package var environment = EnvironmentVariables.process

  /// Whether the first write may create the vault's folder; the folder in `KEYCHAIN_VAULT` must
  /// exist.
  package var makesFolder = true

  /// The deadline for all calls together, without people's answers, and for reading the input of an
  /// import; `nil` gives each call its ``deadline``, and input no limit.
  package var commonDeadline: Deadline?

  /// The deadline of a call that begins now.
  func deadlineOfCall() -> Deadline { commonDeadline ?? Deadline(after: deadline) }

  /// The cost of new passphrase slots, which tests set; `nil` for the policy.
  package var passwordHash: PasswordHash.Parameters?

  /// Describes how to open a vault; each argument is the property of its name.
  ///
  /// By default, the deadline is 10 seconds, nobody may be asked, and the idle time is 15 minutes;
  /// it is at most 12 hours.
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

  /// The disk of the vault's file; tests use a model instead.
  var disk: any VaultDisk = LinuxDisk()

  var secretFilePolicy: SecretFilePolicy {
    SecretFilePolicy(chosen: secretFileReaders, environment: environment, timeout: deadline)
  }

  func report(_ kind: Notice.Kind, _ message: String, recovery: KeychainError.Recovery? = nil) {
    notice?(Notice(kind: kind, message: message, recovery: recovery))
  }

  /// Asks a person; `nil` if nobody may be asked.
  var ask: (@Sendable (PassphraseRequest) throws(KeychainError) -> SecretBytes?)? {
    guard !environment.isSet("KEYCHAIN_NO_PROMPT"), case .allowed(let ask) = interaction
    else { return nil }
    return ask
  }
}
