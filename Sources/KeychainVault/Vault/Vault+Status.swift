internal import Foundation
internal import Glibc
public import KeychainCredentials
public import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

extension Vault {
  /// Returns the vault's status.
  ///
  /// Nobody is asked, and the idle time is not extended.
  ///
  /// - Returns: The status. A missing vault is reported as a status, not an error.
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
    status.check = try head.check()
    status.epoch = head.epoch
    let seen = session.opened.seen
    var relation: SeenRelation?
    if let keys = try unlocker.keysToLook(head, session.path, session.deadline) {
      let contents = try session.unjudgedContents(keys)
      let found = try contents.relation(to: seen.record, keys)
      try note(contents, keys, &status)
      status.seenFailure = found.failure
      relation = found
    } else {
      status.slots = try describe(head, nil)
      status.seenFailure = try seen.record?.failure(of: head, at: session.path)
    }
    status.seenRecord = Self.compare(seen, head, relation, status.seenFailure)
    return status
  }

  /// Notes what only T0 shows.
  private func note(
    _ contents: VaultContents, _ keys: TierKeys, _ status: inout VaultStatus
  ) throws(KeychainError) {
    let counts = try contents.itemCounts(keys)
    status.slots = try describe(contents.head, contents.list)
    status.kind = contents.list.vaultKind
    status.itemsByAccessibility = counts.known
    status.damagedItemCount = counts.damaged
    status.itemCount = counts.known.values.reduce(counts.damaged, +)
    status.counter = contents.newest.n
    status.witness = try Commit.witness(contents.newest.digest)
  }

  /// Lists the slots.
  ///
  /// - Returns: The slots that can be read, by number.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if there is no vault.
  public func slots() throws(KeychainError) -> [VaultSlot] {
    let session = try existingSession()
    let keys = try unlocker.keysToLook(session.head, session.path, session.deadline)
    return try describe(
      session.head,
      keys.map { keys throws(KeychainError) in try file.list(session.head, keys.open) })
  }

  /// Describes the slots, with their names if the list of members can be read.
  func describe(_ head: VaultHead, _ list: MemberList?) throws(KeychainError) -> [VaultSlot] {
    let own = try unlocker.device.slot(head)
    return head.slots.map { slot in
      slot.described(
        isThisDevice: slot.number == own?.number, member: list?.member(slot.number))
    }
  }

  /// Returns what is known without opening the file.
  private func surroundings() throws(KeychainError) -> VaultStatus {
    let path = try file.path()
    let seen = try file.seenFile()
    let found = try translated(PrivateFile.inspect(path.path))
    let fileSystem = FileSystemKind(of: path.path)
    let devicePath = unlocker.device.path ?? ""
    let cacheFailure = KernelKeyring.failure()
    return VaultStatus(
      path: path.path, exists: (found?.size ?? 0) > 0, wasSeen: seen.read() != .none,
      isCacheAvailable: cacheFailure == nil, cacheErrorNumber: cacheFailure?.rawValue,
      emptyCredentialsFolder: unlocker.sources.emptyCredentialsFolder,
      deviceSecretPath: devicePath,
      hasDeviceSecret: try translated(PrivateFile.inspect(devicePath)) != nil,
      seenRecord: seen.read() == .unreadable ? .unreadable : .none, seenRecordPath: seen.path,
      fileSystem: fileSystem.name, isOnNetwork: fileSystem.isNetwork,
      isReadOnly: unsafe found != nil && access(path.path, W_OK) != 0,
      unlockSources: configuration.unlock.map { [$0.name] }
        ?? unlocker.sources.ambient.map(\.name),
      mayAsk: configuration.ask != nil)
  }

  private static func compare(
    _ seen: SeenRecordFile.Content, _ head: VaultHead, _ relation: SeenRelation?,
    _ failure: KeychainError?
  ) -> VaultStatus.SeenRecordState {
    guard let record = seen.record else { return seen == .none ? .none : .unreadable }
    guard record.id == head.id else { return .otherVault }
    guard failure != nil else { return relation == nil ? .notCompared : .current }
    if relation?.isFork ?? false { return .forked }
    if relation?.isOlder ?? false || head.epoch < record.epoch { return .newerThanFile }
    return head.epoch == record.epoch ? .forked : .otherVault
  }
}

extension VaultSession {
  /// Returns the contents whether what was seen here before refuses them or not, and writes nothing.
  fileprivate func unjudgedContents(_ keys: TierKeys) throws(KeychainError) -> VaultContents {
    do throws(KeychainError) {
      return try file.contents(opened, keys)
    } catch {
      // A write that was under way may have looked like damage.
      guard error.code == .damaged,
        let again = try? locked({ locked throws(KeychainError) in
          try locked.vault(keys, anew: true, refuses: false).contents
        })
      else { throw error }
      return again
    }
  }
}
