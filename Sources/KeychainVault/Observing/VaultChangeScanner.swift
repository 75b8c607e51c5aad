internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// Looks at a vault, and finds what is different from before.
///
/// Nothing is asked, unlocked, prolonged or written for it.
struct VaultChangeScanner: Sendable {
  let file: VaultFile
  let unlocker: Unlocker
  let knownHead: KnownHead
  let timeout: Duration

  private var ledger: ItemLedger { file.ledger }

  /// Looks for the first time.
  func begin() {
    ledger.set(ItemSnapshot())
    _ = changes()
  }

  func end() { ledger.set(nil) }

  /// What has changed since the last look.
  ///
  /// - Returns: The changes, or `nil` if somebody held the vault for too long. A vault that cannot be
  ///   believed, or isn't there, has not changed until it can, or is.
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
      let keys = try unlocker.keysAtHand(.nothing, VaultHead(rows))
      try session.checkBelief(rows, keys)
      let new = try ItemSnapshot(rows, file: opened.identity, after: old)
      let changes = ledger.advance(to: new)
      guard let keys else { return changes.map { CredentialChange(nil, $0.kind) } }
      let sealing = ItemSealing(keys: keys, device: device)
      let groups = changes.isEmpty ? [] : try sealing.groupNames(rows)
      return changes.map {
        CredentialChange(sealing.identity(in: $0.row, groups: groups), $0.kind)
      }
    }
  }
}

extension VaultSession {
  /// Refuses a vault that lies in the place of another one, or of a newer state of itself.
  fileprivate func checkBelief(
    _ rows: any VaultRows, _ keys: TierKeys?
  ) throws(KeychainError) {
    if let keys {
      _ = try checkedState(rows, keys)
    } else {
      // Without a key the counter cannot be read.
      try checkIsKnown(try rows.vaultRow().checks.open)
    }
  }
}

extension ItemSealing {
  /// The names of the access groups that the keys at hand open, the unnamed one first.
  fileprivate func groupNames(_ rows: any VaultRows) throws(KeychainError) -> [String] {
    var names: Set<Data> = []
    for row in try rows.accessGroups() where keys.satisfies(row.accessibility.unlockRequirement) {
      if let name = try? groupName(row) { names.insert(Data(name.utf8)) }
    }
    return [""] + names.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The identity in a row, or `nil` if the keys at hand don't open it.
  ///
  /// - Parameters:
  ///   - row: The row, which may be gone from the vault, and its tokens with it.
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
