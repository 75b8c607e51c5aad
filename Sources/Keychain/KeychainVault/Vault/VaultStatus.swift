internal import FoundationEssentials
internal import Glibc
public import KeychainCredentials
public import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// The visible parts of a vault: fewer while it is locked than while it is unlocked.
public struct VaultStatus: Hashable, Sendable {
  /// The real path of the vault.
  public var path: String

  /// Whether the file exists.
  public var exists: Bool

  /// Whether the seen record knows the vault.
  public var wasSeen: Bool

  /// The permanent id of the vault, in hex; `nil` without a vault.
  public var id: String?

  /// The check, which people compare and identities are pinned to; `nil` without a vault, or if it
  /// is refused.
  public var check: VaultCheck?

  /// The number of the present keys: 1 for the first ones, and one more for each new set.
  public var epoch: UInt64?

  /// Whether the vault is shared; `nil` if that cannot be read while locked.
  public var kind: VaultKind?

  /// The slots, without names if the vault is locked or refused.
  public var slots: [VaultSlot] = []

  /// The strictest requirement that is met now without asking; `nil` if even the names of the items
  /// that need no unlock cannot be read.
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

  /// The first 32 characters of the digest of the state and its history; `nil` if it cannot be read
  /// while locked, or if the vault is refused.
  ///
  /// Two members who see the same witness see the same vault, with the same history.
  public var witness: String?

  /// The path of the device secret.
  public var deviceSecretPath: String

  /// Whether the device secret exists.
  public var hasDeviceSecret: Bool

  /// The state of the seen record.
  public var seenRecord: SeenRecordState

  /// Why the vault is refused by the seen record; `nil` if it is not refused.
  package var seenFailure: KeychainError?

  /// The path of the seen record.
  public var seenRecordPath: String

  /// The type of the file system, such as `ext4`, if it is known.
  public var fileSystem: String?

  /// Whether the file system is on the network, where locks may not work.
  public var isOnNetwork: Bool

  /// Whether the vault is in memory, and is lost when the file system is unmounted or the machine
  /// stops.
  public var isInMemory: Bool { FileSystemKind(name: fileSystem).isInMemory }

  /// Whether the vault is read-only here.
  public var isReadOnly: Bool

  /// Whether the file has a hard link, which the next change separates from the vault.
  public var hasOtherNames = false

  /// The sources that unlocking would try after the cache and the device secret, in that order,
  /// such as `KEYCHAIN_PASSPHRASE_FILE`; only the first one counts.
  public var unlockSources: [String]

  /// Whether a person may be asked for the passphrase.
  public var mayAsk: Bool

  /// The result of comparing the seen record with the vault.
  @nonexhaustive public enum SeenRecordState: Hashable, Sendable {
    /// The record agrees with the vault.
    case current

    /// The record is of this vault, but comparing its state needs a key.
    case notCompared

    /// There is no record: the vault was never seen here.
    case none

    /// The record is damaged or unreadable.
    case unreadable

    /// The record has a newer state than the file.
    case newerThanFile

    /// The record has a state that is not in the history of the file: two copies of the vault were
    /// changed.
    case forked

    /// The record is of another vault.
    case otherVault
  }
}

extension Vault {
  /// Returns the vault's status, also if it is missing or refused, because it is not the one seen
  /// here.
  ///
  /// Nobody is asked, and the idle time is not extended.
  ///
  /// - Throws: ``KeychainError`` if the file cannot be read, is not a vault, or is open to other
  ///   users.
  public func status() throws(KeychainError) -> VaultStatus {
    var status = try surroundings()
    guard status.exists else { return status }
    guard let session = try session() else {
      status.exists = false
      return status
    }
    let head = session.head
    status.readable = try unlocker.keysAtHand(.nothing, head)?.readable
    status.cachedFor = unlocker.cache.remainingTime(of: head)
    status.id = head.id.bytes.hexadecimal
    status.epoch = head.epoch
    let seen = session.opened.seen
    var relation: SeenRelation?
    if let keys = try unlocker.keysToLook(session.opened, session.deadline) {
      let contents = try session.unjudgedContents(keys)
      let found = try contents.relation(to: seen, keys)
      status.seenFailure = found.failure
      try note(contents, keys, &status)
      relation = found
    } else {
      status.slots = try describe(head, nil)
      status.seenFailure = try seen.failure(of: head)
    }
    // A vault that was not seen here must not show its check and members as if it had been.
    if status.seenFailure == nil { status.check = try head.check() }
    if let record = session.opened.record ?? seen.records.first {
      status.seenRecord = Self.compare(record, head, relation, status.seenFailure)
    }
    return status
  }

  /// Adds what only T0 shows.
  private func note(
    _ contents: VaultContents, _ keys: TierKeys, _ status: inout VaultStatus
  ) throws(KeychainError) {
    let counts = try contents.itemCounts(keys)
    let isRefused = status.seenFailure != nil
    status.slots = try describe(contents.head, isRefused ? nil : contents.list)
    status.kind = contents.list.vaultKind
    status.itemsByAccessibility = counts.known
    status.damagedItemCount = counts.damaged
    status.itemCount = counts.known.values.reduce(counts.damaged, +)
    status.counter = contents.newest.n
    if !isRefused { status.witness = try Commit.witness(contents.newest.digest) }
  }

  /// Lists the readable slots by number, without names if the vault is locked or refused.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if there is no vault.
  public func slots() throws(KeychainError) -> [VaultSlot] {
    let session = try existingSession()
    guard let keys = try unlocker.keysToLook(session.opened, session.deadline) else {
      return try describe(session.head, nil)
    }
    let list = try file.list(session.head, keys.open)
    // People must see what opens a file even if its log is damaged.
    let relation = try? session.unjudgedContents(keys)
      .relation(to: session.opened.seen, keys)
    return try describe(session.head, relation?.failure == nil ? list : nil)
  }

  /// Describes the slots, with their names if the list of members can be read.
  func describe(_ head: VaultHead, _ list: MemberList?) throws(KeychainError) -> [VaultSlot] {
    let own = try unlocker.ownSlot(of: head)?.slot
    return head.slots.map { slot in
      slot.described(isThisDevice: slot.number == own?.number, member: list?.member(slot.number))
    }
  }

  /// Returns everything that is known without opening the file.
  private func surroundings() throws(KeychainError) -> VaultStatus {
    let path = try file.path()
    let records = try file.records()
    let seen = try records.read()
    let found = try translated(PrivateFile.inspect(path.path))
    let fileSystem = FileSystemKind(of: path.path)
    let devicePath = unlocker.state.pathOfSecret ?? ""
    let cacheFailure = KernelKeyring.failure()
    return VaultStatus(
      path: path.path, exists: (found?.size ?? 0) > 0, wasSeen: !seen.isNone,
      isCacheAvailable: cacheFailure == nil, cacheErrorNumber: cacheFailure?.rawValue,
      emptyCredentialsFolder: configuration.emptyCredentialsFolder,
      deviceSecretPath: devicePath,
      hasDeviceSecret: try translated(PrivateFile.inspect(devicePath)) != nil,
      seenRecord: seen.isUnreadable ? .unreadable : .none, seenRecordPath: records.path,
      fileSystem: fileSystem.name, isOnNetwork: fileSystem.isNetwork,
      isReadOnly: unsafe found != nil && access(path.path, W_OK) != 0,
      hasOtherNames: (found?.linkCount ?? 0) > 1,
      unlockSources: configuration.unlock.map { [$0.name] }
        ?? configuration.ambientSources.map(\.name),
      mayAsk: configuration.ask != nil)
  }

  private static func compare(
    _ record: SeenRecord, _ head: VaultHead, _ relation: SeenRelation?, _ failure: KeychainError?
  ) -> VaultStatus.SeenRecordState {
    guard record.id == head.id else { return .otherVault }
    guard failure != nil else { return relation == nil ? .notCompared : .current }
    if relation?.isFork ?? false { return .forked }
    if relation?.isOlder ?? false || head.epoch < record.epoch { return .newerThanFile }
    return head.epoch == record.epoch ? .forked : .otherVault
  }
}

extension VaultSession {
  /// Returns the contents, whether or not the seen record refuses them, without writing anything.
  fileprivate func unjudgedContents(_ keys: TierKeys) throws(KeychainError) -> VaultContents {
    do throws(KeychainError) {
      return try file.contents(opened, keys)
    } catch {
      // A running write may have looked like damage.
      guard error.code == .damaged,
        let again = try? locked({ session, lock throws(KeychainError) in
          try LockedVault(session, lock, keys, anew: true, refuses: false).contents
        })
      else { throw error }
      return again
    }
  }
}
