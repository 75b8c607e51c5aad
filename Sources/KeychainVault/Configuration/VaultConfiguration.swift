internal import KeychainCredentials
package import KeychainSecrets
package import PrephirencesFiles

/// Where a vault lies and how it is opened.
///
/// ```swift
/// let vault = Vault(
///   configuration: .init(path: "/var/lib/mytool/vault.db", unlock: .keyFile("/etc/mytool/keychain.key")))
/// ```
public struct VaultConfiguration: Sendable {
  /// The path of the vault file; `nil` for `KEYCHAIN_VAULT`, else
  /// `$XDG_DATA_HOME/keychain/vault.db`.
  public var path: String?

  /// How long a call may wait for another process.
  public var deadline: Duration

  /// The source of the unlocking secret.
  ///
  /// A source given here decides alone: if its secret is wrong, nothing else is tried. `nil`
  /// leaves it to the device key, the kernel's cache, the environment, the system's credentials,
  /// and a prompt, in that order.
  public var unlock: UnlockSource?

  /// Whether and how a person may be asked for the passphrase.
  ///
  /// Where `KEYCHAIN_NO_PROMPT` is set to anything, nobody is asked, whatever this says.
  public var interaction: Interaction

  /// Is told what a person should know, such as that a new vault was made and what protects it.
  public var notice: (@Sendable (Notice) -> Void)?

  /// How long an unlocked vault stays unlocked while it is not used.
  public var idleTime: Duration

  /// Who may read the files that unlocking secrets come from, besides the user and root.
  ///
  /// `nil` leaves it to `KEYCHAIN_ALLOW_READ`, which is `group` or `others`; without it, nobody may. Files that
  /// others can change are refused in any case.
  public var secretFileReaders: SecretFileReaders?

  /// The environment variables that are looked at; tests give their own.
  package var environment = EnvironmentVariables.process

  /// Whether the connection to the file stays open until the process ends, although the handle is gone.
  ///
  /// For programs that end with their only operation: the system closes a file faster than the
  /// library, which starts a thread for it. Keys are wiped with the handle all the same.
  package var leavesConnectionToExit = false

  /// Whether SQLite may take little memory in this process, whoever uses it.
  ///
  /// For programs that use it for the vault alone: a vault that somebody changed could make it take as
  /// much as the file is long.
  package var limitsDatabaseMemory = false

  /// The cost of new passphrase slots; `nil` for the policy.
  ///
  /// Tests give a small one.
  package var passwordHash: PasswordHash.Parameters?

  /// Describes how to open a vault.
  ///
  /// - Parameters:
  ///   - path: The path of the vault file; `nil` for the usual one.
  ///   - deadline: How long a call may wait for another process: 10 seconds unless given.
  ///   - unlock: The source of the unlocking secret; `nil` for the usual order.
  ///   - interaction: Whether a person may be asked; denied unless given.
  ///   - notice: Is told what a person should know.
  ///   - idleTime: How long the vault stays unlocked while it is not used: 15 minutes unless
  ///     given, 12 hours at most.
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

  /// Asks a person; `nil` if nobody may be asked.
  var ask: (@Sendable (PassphraseRequest) throws(KeychainError) -> SecretBytes?)? {
    guard environment.value("KEYCHAIN_NO_PROMPT") == nil, case .allowed(let ask) = interaction
    else { return nil }
    return ask
  }
}
