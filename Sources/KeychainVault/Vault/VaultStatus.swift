public import KeychainCredentials
public import KeychainVaultFormat
internal import PrephirencesFiles

/// What a vault shows without being unlocked, and what it shows when it is.
public struct VaultStatus: Hashable, Sendable {
  /// The real path of the vault.
  public var path: String

  /// Whether the file is there.
  public var exists: Bool

  /// Whether the file was there before, by the record of what was seen.
  public var wasSeen: Bool

  /// The check by which identities are pinned to the vault; `nil` without a vault.
  public var check: VaultCheck?

  /// The slots.
  public var slots: [VaultSlot] = []

  /// The numbers of slots that are damaged.
  public var damagedSlots: [UInt32] = []

  /// The greatest requirement that is met now without asking anybody; `nil` if not even the
  /// indexes can be read.
  public var readable: Accessibility.UnlockRequirement?

  /// How long the cached key stays valid if it is not used; `nil` if none is cached.
  public var cachedFor: Duration?

  /// Whether the kernel's cache can be used here.
  public var isCacheAvailable: Bool

  /// The system's number of the error, if the kernel's cache cannot be used here.
  package var cacheErrorNumber: Int32?

  /// The folder of the system's credentials, if it is there and nothing in it unlocks.
  package var emptyCredentialsFolder: String?

  /// How many items there are.
  public var itemCount = 0

  /// How many of them are damaged so far that not even their accessibility can be read.
  public var damagedItemCount = 0

  /// The number of the other items by accessibility.
  public var itemsByAccessibility: [Accessibility: Int] = [:]

  /// The counter of changes; `nil` if it cannot be read while locked.
  public var counter: UInt64?

  /// The path of the device secret.
  public var deviceSecretPath: String

  /// Whether the device secret is there.
  public var hasDeviceSecret: Bool

  /// The state of the seen record.
  public var seenRecord: SeenRecordState

  /// Why the vault is refused after what was seen before; `nil` if it is not.
  package var seenFailure: KeychainError?

  /// The path of the seen record.
  public var seenRecordPath: String

  /// The type of the file system, such as `ext4`, if it is known.
  public var fileSystem: String?

  /// Whether the file system is a network's, where locks may not hold.
  public var isOnNetwork: Bool

  /// Whether the vault lies in memory, and goes with the mount or the machine.
  public var isInMemory: Bool { FileSystemKind(name: fileSystem).isInMemory }

  /// Whether the vault can only be read here.
  public var isReadOnly: Bool

  /// What would be tried for unlocking after the cache and the device secret, in that order, such as
  /// `KEYCHAIN_PASSPHRASE_FILE`; of these only the first counts.
  public var unlockSources: [String]

  /// Whether a person may be asked for the passphrase.
  public var mayAsk: Bool

  /// The states of the record of the newest state seen.
  public enum SeenRecordState: Hashable, Sendable {
    /// The record agrees with the vault.
    case current

    /// There is no record: this is the first sight of the vault.
    case none

    /// The record is damaged or unreadable.
    case unreadable

    /// The record knows a newer state than the file holds.
    case newerThanFile

    /// The record knows another state of as many changes: two copies of the vault were changed.
    case forked

    /// The file counts more changes than there can have been since the record: it is forged.
    case tooFarBehindFile

    /// The record is of another vault.
    case otherVault
  }
}
