public import KeychainCredentials
public import KeychainVaultFormat
internal import PrephirencesFiles

/// What a vault shows while locked, and what it shows while unlocked.
public struct VaultStatus: Hashable, Sendable {
  /// The real path of the vault.
  public var path: String

  /// Whether the file is there.
  public var exists: Bool

  /// Whether the seen record knows the vault.
  public var wasSeen: Bool

  /// What the vault is called for ever, in hex; `nil` without a vault.
  public var id: String?

  /// The check to which identities are pinned; `nil` without a vault.
  public var check: VaultCheck?

  /// The number of the present keys: 1 for the first ones, and one more for each new set.
  public var epoch: UInt64?

  /// Whether the vault is shared; `nil` if that cannot be read while locked.
  public var kind: VaultKind?

  /// The slots.
  public var slots: [VaultSlot] = []

  /// The greatest requirement that is met now without asking; `nil` if not even the names of the items
  /// that need no unlock can be read.
  public var readable: Accessibility.UnlockRequirement?

  /// How long the cached key stays valid if it is not used; `nil` if no key is cached.
  public var cachedFor: Duration?

  /// Whether the kernel's cache can be used here.
  public var isCacheAvailable: Bool

  /// The system's error number, if the kernel's cache cannot be used here.
  package var cacheErrorNumber: Int32?

  /// The folder of the system's credentials, if it exists and nothing in it unlocks the vault.
  package var emptyCredentialsFolder: String?

  /// The number of items; `nil` if it cannot be read while locked.
  public var itemCount: Int?

  /// The number of items that are too damaged to read their accessibility.
  public var damagedItemCount = 0

  /// The number of the other items, by accessibility; empty if it cannot be read while locked.
  public var itemsByAccessibility: [Accessibility: Int] = [:]

  /// The number of the newest change; `nil` if it cannot be read while locked.
  public var counter: UInt64?

  /// The beginning of the digest of the state and of all before it, in 32 characters; `nil` if it
  /// cannot be read while locked.
  ///
  /// Two members who see the same witness see the same vault, with the same history.
  public var witness: String?

  /// The path of the device secret.
  public var deviceSecretPath: String

  /// Whether the device secret is there.
  public var hasDeviceSecret: Bool

  /// The state of the seen record.
  public var seenRecord: SeenRecordState

  /// Why the seen record makes the vault refused; `nil` if it is not refused.
  package var seenFailure: KeychainError?

  /// The path of the seen record.
  public var seenRecordPath: String

  /// The type of the file system, such as `ext4`, if it is known.
  public var fileSystem: String?

  /// Whether the file system is on the network, where locks may not work.
  public var isOnNetwork: Bool

  /// Whether the vault lies in memory, and is lost when the file system is unmounted or the machine
  /// stops.
  public var isInMemory: Bool { FileSystemKind(name: fileSystem).isInMemory }

  /// Whether the vault is read-only here.
  public var isReadOnly: Bool

  /// What unlocking would try after the cache and the device secret, in that order, such as
  /// `KEYCHAIN_PASSPHRASE_FILE`.
  ///
  /// Only the first one counts.
  public var unlockSources: [String]

  /// Whether a person may be asked for the passphrase.
  public var mayAsk: Bool

  /// How the seen record and the vault compare.
  public enum SeenRecordState: Hashable, Sendable {
    /// The record agrees with the vault.
    case current

    /// The record is of this vault, and only a key shows how its state compares.
    case notCompared

    /// There is no record: the vault was never seen here.
    case none

    /// The record is damaged or unreadable.
    case unreadable

    /// The record knows a newer state than the file holds.
    case newerThanFile

    /// The record knows a state that is not in the history of the file: two copies of the vault were
    /// changed.
    case forked

    /// The record is of another vault.
    case otherVault
  }
}
