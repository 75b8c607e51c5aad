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

/// What a verification found.
public struct VerificationReport: Hashable, Sendable {
  /// How many items were checked.
  public var itemCount: Int

  /// How many of them were also opened; the others are locked.
  public var openedCount: Int

  /// What is wrong, in words; empty if nothing is.
  public var problems: [String]

  /// Whether nothing is wrong.
  public var isIntact: Bool { problems.isEmpty }
}

/// What a backup holds.
public struct BackupReport: Hashable, Sendable {
  /// How many items are in it.
  public var itemCount: Int

  /// How many of them open only together with this machine's device secret, or another's.
  public var deviceItemCount: Int

  /// The slots that open it.
  public var slots: [VaultSlot]

  /// Whether nothing but this machine's device secret opens it.
  public var needsThisDevice: Bool
}

/// What an export holds.
public struct ExportReport: Hashable, Sendable {
  /// How many items are in it.
  public var itemCount: Int

  /// How many stayed behind, because they are bound to a device.
  public var leftOutCount: Int
}

/// What an import did, or would do.
public struct ImportReport: Hashable, Sendable {
  /// How many items are new.
  public var addedCount = 0

  /// How many were there already, in every detail.
  public var unchangedCount = 0

  /// The items that were there already and differ: they were overwritten if that was asked for, else
  /// left alone.
  public var differing: [CredentialIdentity] = []

  /// Whether the differing items were overwritten.
  public var isOverwriting: Bool

  /// How many items stayed behind when the export was made, because they are bound to a device.
  public var leftOutCount = 0
}

/// How a restored vault differs from what was seen before.
public struct RestoredDifferences: Hashable, Sendable {
  /// The counter of the file.
  public var fileCounter: UInt64

  /// The counter that was seen, if it was of this vault.
  public var seenCounter: UInt64?

  /// Whether the record is of another vault.
  public var isOtherVault: Bool

  /// Whether as many changes were seen as the file counts, but others: two copies of the vault were
  /// changed.
  public var isFork: Bool

  /// Whether the two counters lie further apart than any use explains, so that the greater one is forged.
  public var isForged: Bool

  /// Whether the record of what was seen is damaged, so that nothing shows whether changes are lost.
  public var isSeenRecordDamaged: Bool

  /// Whether the vault's state row is damaged, so that what it counted is not known.
  public var isStateDamaged: Bool

  /// How many items the vault's state row counts; 0 if it is damaged.
  public var expectedItemCount: Int

  /// How many items there are.
  public var itemCount: Int

  /// How many slots the vault's state row counts; 0 if it is damaged.
  public var expectedSlotCount: Int

  /// The slots that open the vault: one that was removed may be among them again.
  public var slots: [VaultSlot]

  /// The numbers of slots that are damaged.
  public var damagedSlots: [UInt32]

  /// Whether the rows agree with the vault's state row.
  public var isConsistent: Bool

  /// Whether there is anything to accept.
  var exist: Bool {
    isOtherVault || isFork || isForged || !isConsistent || fileCounter < seenCounter ?? 0
  }
}

/// How far a long operation has come.
public struct VaultProgress: Hashable, Sendable {
  /// How many items are done.
  public var completed: Int

  /// How many items there are.
  public var total: Int

  package init(completed: Int, total: Int) {
    self.completed = completed
    self.total = total
  }
}
