internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// Finds changes of a vault since the last scan.
///
/// It asks, unlocks and writes nothing, and does not extend the unlocked time.
struct VaultChangeScanner: Sendable {
  let file: VaultFile
  let unlocker: Unlocker
  let knownHead: KnownHead
  let timeout: Duration

  private var ledger: ItemLedger { file.ledger }

  /// Begins with an empty ledger; the first scan only records the items.
  func begin() {
    ledger.set(ItemSnapshot())
    _ = changes()
  }

  func end() { ledger.set(nil) }

  /// Returns what has changed since the last scan.
  ///
  /// - Returns: The changes, or `nil` if another process held the vault for too long. A vault that
  ///   is missing or not trusted counts as unchanged for that time.
  func changes() -> [CredentialChange]? {
    do throws(KeychainError) {
      return try find()
    } catch {
      return error.code == .busy || error.code == .timedOut ? nil : []
    }
  }

  private func find() throws(KeychainError) -> [CredentialChange] {
    let deadline = Deadline(after: timeout)
    guard let opened = try file.open(deadline) else {
      ledger.noteAbsence()
      return []
    }
    let session = VaultSession(
      opened: opened, unlocker: unlocker, knownHead: knownHead, deadline: deadline, notice: nil)
    let device = try unlocker.device.find()
    return try opened.storage.read(deadline) {
      (rows: any VaultRows) throws(KeychainError) -> [CredentialChange] in
      guard let old = ledger.current else { return [] }
      if old.isKnown, try rows.stateBox() == old.stateBox { return [] }
      let keys = try unlocker.keysAtHand(.nothing, VaultHead(rows, path: opened.path))
      try session.checkTrust(rows, keys)
      let new = try ItemSnapshot(rows, file: opened.identity, after: old)
      let changes = ledger.advance(to: new)
      guard let keys else { return changes.map { CredentialChange(nil, $0.kind) } }
      let sealing = ItemSealing(
        keys: keys, device: try device?.inVault(rows.headRow().id))
      let groups = changes.isEmpty ? [] : try sealing.groupNames(rows)
      return changes.map {
        CredentialChange(sealing.identity(in: $0.row, groups: groups), $0.kind)
      }
    }
  }
}

extension VaultSession {
  /// Rejects a vault that replaced another one, or a newer state of itself.
  fileprivate func checkTrust(
    _ rows: any VaultRows, _ keys: TierKeys?
  ) throws(KeychainError) {
    if let keys {
      _ = try proven(rows, keys)
    } else {
      // The counter cannot be read without a key.
      try requireKnown(rows.headRow(), rows.successions())
    }
  }
}

extension ItemSealing {
  /// Returns the names of the access groups that the keys at hand open; the empty name comes first.
  fileprivate func groupNames(_ rows: any VaultRows) throws(KeychainError) -> [String] {
    var names: Set<Data> = []
    for row in try rows.accessGroups() where keys.satisfies(row.accessibility.unlockRequirement) {
      if let name = try? groupName(row) { names.insert(Data(name.utf8)) }
    }
    return [""] + names.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the identity in a row, or `nil` if the keys at hand do not open it.
  ///
  /// - Parameters:
  ///   - row: The row. It may be gone from the vault, together with its tokens.
  ///   - groups: The names of the access groups.
  /// - Returns: The identity.
  fileprivate func identity(in row: ItemRow, groups: [String]) -> CredentialIdentity? {
    guard keys.satisfies(row.accessibility.unlockRequirement), !isOfOtherDevice(row) else {
      return nil
    }
    for group in groups {
      if let credential = try? credential(in: row, group: group, name: "") {
        return credential.identity
      }
    }
    return nil
  }
}
