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
    let head = try session.readHead()
    status.readable = try unlocker.keysAtHand(.nothing, head)?.readable
    let keys = try unlocker.keysToLook(head, session.opened.path, session.deadline)
    status.cachedFor = unlocker.cache.remainingTime(of: head.row)
    status.id = head.row.id.bytes.hexadecimal
    status.check = try head.row.check()
    status.epoch = head.row.epoch
    status.slots = try describe(head, keys)
    status.damagedSlots = head.slots.damaged
    status.unknownSlots = head.slots.unknown
    var found: SeenState?
    try session.opened.storage.read(session.deadline) { rows throws(KeychainError) in
      status.itemsByAccessibility = try rows.itemCounts()
      status.itemCount = try rows.itemCount()
      status.damagedItemCount =
        status.itemCount - status.itemsByAccessibility.values.reduce(0, +)
      let top = try rows.topRows()
      if let keys, top.head.owns(keys) {
        found = try state(&status, rows, top, keys, session)
      }
    }
    status.seenFailure = try Self.failure(session.opened, head, found)
    status.seenRecord = Self.compare(session.opened.seen, status.seenFailure, head, found)
    return status
  }

  /// Notes what the state says, without comparing it with the seen record.
  private func state(
    _ status: inout VaultStatus, _ rows: any VaultRows, _ top: TopRows, _ keys: TierKeys,
    _ session: VaultSession
  ) throws(KeychainError) -> SeenState {
    let proofs = session.knownHead.proofs
    try proofs.requireMacs(of: keys, top.head, path: session.opened.path)
    let list = try proofs.list(
      top.members, keys.open.bytes, head: top.head, successions: rows.successions(),
      unlocked: session.knownHead.value)
    let chained = try proofs.chained(
      top.stateBox, keys.open.bytes, head: top.head, list: list)
    status.kind = list.vaultKind
    status.counter = chained.state.counter
    status.witness = String(chained.digest.hexadecimal.prefix(8))
    guard UInt64(status.itemCount) == chained.state.items.count else {
      throw .wrongItemCount(status.itemCount, expected: chained.state.items.count)
    }
    return SeenState(chained)
  }

  /// Lists the slots.
  ///
  /// - Returns: The slots that can be read, by number.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if there is no vault.
  public func slots() throws(KeychainError) -> [VaultSlot] {
    let session = try existingSession()
    let head = try session.readHead()
    return try describe(
      head, try unlocker.keysToLook(head, session.opened.path, session.deadline))
  }

  /// Describes the slots, with their names if the list of members can be read.
  func describe(_ head: VaultHead, _ keys: TierKeys?) throws(KeychainError) -> [VaultSlot] {
    let list = try keys.map { keys throws(KeychainError) in try head.list(keys.open) }
    return try describe(head, list)
  }

  func describe(
    _ head: VaultHead, _ list: MemberList?
  ) throws(KeychainError) -> [VaultSlot] {
    let own = try unlocker.device.slot(head)
    var slots: [VaultSlot] = []
    for slot in head.slots.intact {
      let member = try list?.entry(of: slot)
      slots.append(
        slot.described(
          isThisDevice: slot.number == own?.number, member: member,
          isListed: list.map { _ in member != nil }))
    }
    return slots
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
      unlockSources: sourceNames, mayAsk: mayAsk)
  }

  private var sourceNames: [String] {
    if let explicit = configuration.unlock { return [explicit.name] }
    return unlocker.sources.ambient.map(\.name)
  }

  private var mayAsk: Bool { configuration.ask != nil }

  private static func failure(
    _ opened: VaultFile.Opened, _ head: VaultHead, _ found: SeenState?
  ) throws(KeychainError) -> KeychainError? {
    guard let record = opened.seen.record else { return nil }
    if let failure = try record.failure(of: head.row, head.successions, at: opened.path) {
      return failure
    }
    return found.flatMap { record.failure(of: $0, at: opened.path) }
  }

  private static func compare(
    _ seen: SeenRecordFile.Content, _ failure: KeychainError?, _ head: VaultHead,
    _ found: SeenState?
  ) -> VaultStatus.SeenRecordState {
    guard let record = seen.record else { return seen == .none ? .none : .unreadable }
    guard record.id == head.row.id else { return .otherVault }
    // The counter cannot be read without a key.
    guard let found else { return failure == nil ? .current : .otherVault }
    return switch record.relation(of: found) {
    case .same, .newer: failure == nil ? .current : .otherVault
    case .older, .olderList: .newerThanFile
    case .forked: .forked
    case .tooFarAhead: .tooFarBehindFile
    }
  }
}
