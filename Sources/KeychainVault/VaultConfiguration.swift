public import KeychainCredentials
public import KeychainSecrets
public import KeychainVaultFormat
package import PrephirencesFiles

extension Vault {
  /// Where a vault lies and how it is opened.
  ///
  /// ```swift
  /// let vault = Vault(
  ///   configuration: .init(path: "/var/lib/mytool/vault.db", unlock: .keyFile("/etc/mytool/keychain.key")))
  /// ```
  public struct Configuration: Sendable {
    /// The path of the vault file; `nil` for `KEYCHAIN_VAULT`, else
    /// `$XDG_DATA_HOME/keychain/vault.db`.
    public var path: String?

    /// How long a call may wait for another process.
    public var deadline: Duration

    /// The source of the unlocking secret.
    ///
    /// A source given here decides alone: if its secret is wrong, nothing else is tried. `nil`
    /// leaves it to the kernel's cache, the device key, the environment, the system's credentials,
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
}

/// Where the secret that unlocks a vault comes from.
public struct UnlockSource: Sendable {
  enum Kind: Sendable {
    case passphrase(@Sendable () throws(KeychainError) -> SecretBytes)
    case passphraseFile(path: String)
    case keyFile(path: String)
    case recoveryCode(@Sendable () throws(KeychainError) -> SecretBytes)
    case recoveryCodeFile(path: String)
    case identityFile(path: String)
  }

  let kind: Kind

  /// How errors name the source.
  let name: String

  /// A passphrase that a closure gives; it is called at most once for each unlocking.
  ///
  /// - Parameters:
  ///   - name: How errors name the source, such as `--passphrase-fd`.
  ///   - provide: Returns the passphrase.
  /// - Returns: The source.
  public static func passphrase(
    named name: String, _ provide: @escaping @Sendable () throws(KeychainError) -> SecretBytes
  ) -> Self {
    Self(kind: .passphrase(provide), name: name)
  }

  /// A passphrase in a file; one newline at its end is not part of it.
  ///
  /// The file must belong to the user or to root, and be closed to others; see
  /// ``Vault/Configuration/secretFileReaders``.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - name: How errors name the source; `nil` for the path.
  /// - Returns: The source.
  public static func passphraseFile(_ path: String, named name: String? = nil) -> Self {
    Self(kind: .passphraseFile(path: path), name: name ?? path)
  }

  /// A key file: 32 bytes to 64 KiB of any kind, all of which count.
  ///
  /// The file must belong to the user or to root, and be closed to others; see
  /// ``Vault/Configuration/secretFileReaders``.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - name: How errors name the source; `nil` for the path.
  /// - Returns: The source.
  public static func keyFile(_ path: String, named name: String? = nil) -> Self {
    Self(kind: .keyFile(path: path), name: name ?? path)
  }

  /// A recovery code that a closure gives; it is called at most once for each unlocking.
  ///
  /// - Parameters:
  ///   - name: How errors name the source, such as `--recovery-code-fd`.
  ///   - provide: Returns the code as somebody typed it.
  /// - Returns: The source.
  public static func recoveryCode(
    named name: String, _ provide: @escaping @Sendable () throws(KeychainError) -> SecretBytes
  ) -> Self {
    Self(kind: .recoveryCode(provide), name: name)
  }

  /// A recovery code in a file.
  ///
  /// The file must belong to the user or to root, and be closed to others; see
  /// ``Vault/Configuration/secretFileReaders``.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - name: How errors name the source; `nil` for the path.
  /// - Returns: The source.
  public static func recoveryCodeFile(_ path: String, named name: String? = nil) -> Self {
    Self(kind: .recoveryCodeFile(path: path), name: name ?? path)
  }

  /// An identity file, which opens the vaults that have a slot for its recipient.
  ///
  /// If the file names the checks of vaults, it opens no other vault: see <doc:VaultFormat>. The file
  /// must belong to the user or to root, and be closed to others.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - name: How errors name the source; `nil` for the path.
  /// - Returns: The source.
  public static func identityFile(_ path: String, named name: String? = nil) -> Self {
    Self(kind: .identityFile(path: path), name: name ?? path)
  }
}

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

/// Something a person should know, that is not an error.
public struct Notice: Hashable, Sendable {
  /// The kinds of notice.
  public enum Kind: Hashable, Sendable {
    /// A vault was made.
    case vaultCreated

    /// A vault was made in memory, or its device secret was, where it will not stay.
    case vaultInMemory

    /// A passphrase slot was made with less than the usual cost, because memory is short.
    case weakPasswordHash

    /// A key file that opens the vault from now on holds a few readable words, and key files are not
    /// stretched.
    case weakKeyFile

    /// The record of the newest state seen could not be read or written.
    case seenRecordUnavailable

    /// What the device secret alone opens has changed.
    case deviceGrantChanged

    /// What other handles and processes change is not told to observers.
    case observationUnavailable

    /// The vault got new keys, and its file could not be cleared of what is left under the old ones.
    case oldContentLeft

    /// An identity that names no vaults opened one that was never seen here: whoever could put it there
    /// could have made it.
    case firstSight

    /// A service got its store, in which it stays.
    case storeChosen

    /// A credential was written to another store than the one its service has.
    case storeDiffers
  }

  /// The kind.
  public let kind: Kind

  /// The text, without a capital and without a full stop.
  public let message: String

  package init(kind: Kind, message: String) {
    self.kind = kind
    self.message = message
  }
}
