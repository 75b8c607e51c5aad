internal import KeychainCredentials
public import KeychainSecrets
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

/// Information for a person that is not an error.
public struct Notice: Hashable, Sendable {
  /// The kinds of notice.
  @nonexhaustive public enum Kind: Hashable, Sendable {
    /// A vault was created.
    case vaultCreated

    /// A vault or its device secret was created in memory, and will be lost at the next restart.
    case vaultInMemory

    /// A passphrase slot was created at less than the usual cost because memory is short.
    case weakPasswordHash

    /// A new passphrase is so short that anybody who has the vault can try all.
    case weakPassphrase

    /// A new passphrase has bytes that people do not see, such as a line break at its end.
    case oddPassphrase

    /// A key file with a new slot has only a few readable words, and key files are not stretched.
    case weakKeyFile

    /// The seen record could not be read or written.
    case seenRecordUnavailable

    /// The device secret alone opens more or less than before.
    case deviceGrantChanged

    /// Changes by other handles and processes are not reported to observers.
    case observationUnavailable

    /// The vault got new keys, but remains under the old keys could not be removed from its file.
    case oldContentLeft

    /// The file of the vault has a hard link, which the next change separates from the vault.
    case otherNames

    /// An identity without pins opened a vault that was never seen before, which is trusted on
    /// first use. It may have been made by anybody who could put it there.
    case firstSight

    /// An identity is pinned to a check that the vault had before it got a new administration key.
    case oldPin

    /// A service got its store, which it keeps.
    case storeChosen

    /// A credential was written to another store than that of its service.
    case storeDiffers

    /// A change waits for a migration between the stores.
    case waitsForMigration

    /// The program behind the desktop keyring may keep a removed item, with its secret, in a
    /// recycle bin.
    case removedItemKept
  }

  /// The kind.
  public let kind: Kind

  /// What happened, without a capital and without a full stop.
  public let message: String

  /// What a person can do about it; `nil` if nothing.
  public let recovery: KeychainError.Recovery?

  package init(kind: Kind, message: String, recovery: KeychainError.Recovery? = nil) {
    self.kind = kind
    self.message = message
    self.recovery = recovery
  }
}

extension Notice: CustomStringConvertible {
  /// The message, and what to do, with actions as names of the library's API.
  public var description: String { recovery.map { "\(message); \($0)" } ?? message }
}

/// The progress of a long operation.
public struct VaultProgress: Hashable, Sendable {
  /// The number of items that are done.
  public var completed: Int

  /// The number of all items.
  public var total: Int

  package init(completed: Int, total: Int) {
    self.completed = completed
    self.total = total
  }
}

/// The users, besides the user and root, who may be able to read a file with an unlocking secret.
///
/// Nobody else may be able to change it. Containers mount secrets that belong to root and that a
/// group or everybody in the container can read.
@frozen public enum SecretFileReaders: String, Hashable, Sendable, CaseIterable {
  /// Nobody.
  case owner

  /// The group of the file.
  case group

  /// Everybody.
  case others

  /// The bits of a file's mode that must not be set.
  package var forbiddenBits: UInt32 {
    switch self {
    case .owner: 0o077
    case .group: 0o027
    case .others: 0o022
    }
  }

  /// The bits that a file system without modes may set for a new file with a secret.
  package var acceptedBits: UInt32 {
    switch self {
    case .owner: 0
    case .group: 0o070
    case .others: 0o077
    }
  }
}

/// The requirements for files with unlocking secrets.
struct SecretFilePolicy: Sendable {
  /// Who may read them, if set by the program; `nil` uses `KEYCHAIN_ALLOW_READ`.
  let chosen: SecretFileReaders?

  let environment: EnvironmentVariables

  /// How long to wait for the end of the file.
  var timeout: Duration = .seconds(10)

  static let variable = "KEYCHAIN_ALLOW_READ"

  /// The folder of the system's credentials, which lets the group read them.
  func credentialsFolder() throws(KeychainError) -> String? {
    try translated(environment.absolutePath("CREDENTIALS_DIRECTORY"))
  }

  func readers() throws(KeychainError) -> SecretFileReaders {
    if let chosen { return chosen }
    guard let text = try translated(environment.value(Self.variable)) else { return .owner }
    guard let readers = SecretFileReaders(rawValue: text) else {
      throw KeychainError(
        .invalidArgument, "\(Self.variable) is neither 'owner', 'group' nor 'others'",
        recovery: "set it to one of these, or unset it")
    }
    return readers
  }
}

/// The source of a secret that unlocks a vault.
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

  /// The name of the source in errors.
  let name: String

  /// Returns a source whose passphrase comes from a closure, called at most once for each
  /// unlocking.
  ///
  /// Errors call the source `name`, such as `the pipe`.
  public static func passphrase(
    named name: String, _ provide: @escaping @Sendable () throws(KeychainError) -> SecretBytes
  ) -> Self { Self(kind: .passphrase(provide), name: name) }

  /// Returns a source that reads a passphrase from a file, without one newline at its end.
  ///
  /// The file must belong to the user or to root, and be closed to others; see
  /// ``VaultConfiguration/secretFileReaders``. Errors call the source `name`, or else its path; so
  /// do those of the other sources in files.
  public static func passphraseFile(_ path: String, named name: String? = nil) -> Self {
    Self(kind: .passphraseFile(path: path), name: name ?? path)
  }

  /// Returns a source that reads a key file: 32 bytes to 64 KiB of any kind, all of which count.
  ///
  /// The file must be closed to others as for ``passphraseFile(_:named:)``.
  public static func keyFile(_ path: String, named name: String? = nil) -> Self {
    Self(kind: .keyFile(path: path), name: name ?? path)
  }

  /// Returns a source whose recovery code, as it was typed, comes from a closure, called at most
  /// once for each unlocking.
  ///
  /// Errors call the source `name`, such as `the pipe`.
  public static func recoveryCode(
    named name: String, _ provide: @escaping @Sendable () throws(KeychainError) -> SecretBytes
  ) -> Self { Self(kind: .recoveryCode(provide), name: name) }

  /// Returns a source that reads a recovery code from a file.
  ///
  /// The file must be closed to others as for ``passphraseFile(_:named:)``.
  public static func recoveryCodeFile(_ path: String, named name: String? = nil) -> Self {
    Self(kind: .recoveryCodeFile(path: path), name: name ?? path)
  }

  /// Returns a source that reads an identity file, which opens the vaults that have a slot for its
  /// recipient.
  ///
  /// If the file contains pins, it opens only those vaults: see the article VaultReaders of
  /// `KeychainVaultFormat`. It must be closed to others as for ``passphraseFile(_:named:)``.
  public static func identityFile(_ path: String, named name: String? = nil) -> Self {
    Self(kind: .identityFile(path: path), name: name ?? path)
  }
}
