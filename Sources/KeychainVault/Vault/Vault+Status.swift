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
    let keys = try unlocker.keysAtHand(.nothing, head)
    status.readable = keys?.readable
    status.cachedFor = unlocker.cache.remainingTime(of: head.row.checks)
    status.check = VaultCheck(bytes: head.row.checks.open)
    status.slots = try describe(head)
    status.damagedSlots = head.slots.damaged
    var found: SeenState?
    try session.opened.storage.read(session.deadline) { rows throws(KeychainError) in
      status.itemsByAccessibility = try rows.itemCounts()
      status.itemCount = try rows.itemCount()
      status.damagedItemCount =
        status.itemCount - status.itemsByAccessibility.values.reduce(0, +)
      if let keys, try rows.vaultRow().checks == keys.checks {
        let box = try rows.stateBox()
        let state = try StateRow.open(box, under: keys.open.bytes)
        status.counter = state.counter
        found = try SeenState(counter: state.counter, box: box)
        try state.checkItemCount(status.itemCount)
      }
    }
    status.seenRecord = Self.compare(session.opened.seen, head, found)
    status.seenFailure = Self.failure(session.opened, head, found)
    return status
  }

  /// Lists the slots.
  ///
  /// - Returns: The slots that can be read, by number.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if there is no vault.
  public func slots() throws(KeychainError) -> [VaultSlot] {
    try describe(try existingSession().readHead())
  }

  func describe(_ head: VaultHead) throws(KeychainError) -> [VaultSlot] {
    let own = try unlocker.device.slot(head)
    return head.slots.intact.map { $0.described(isThisDevice: $0.number == own?.number) }
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
  ) -> KeychainError? {
    guard let record = opened.seen.record else { return nil }
    guard record.checks.contains(head.row.checks.open) else { return .anotherVault(opened.path) }
    return found.flatMap { record.failure(of: $0, at: opened.path) }
  }

  private static func compare(
    _ seen: SeenRecordFile.Content, _ head: VaultHead, _ found: SeenState?
  ) -> VaultStatus.SeenRecordState {
    guard let record = seen.record else { return seen == .none ? .none : .unreadable }
    guard record.checks.contains(head.row.checks.open) else { return .otherVault }
    // The counter cannot be read without a key.
    guard let found else { return .current }
    return switch record.relation(of: found) {
    case .sameOrNewer: .current
    case .older: .newerThanFile
    case .forked: .forked
    case .tooFarAhead: .tooFarBehindFile
    }
  }
}
