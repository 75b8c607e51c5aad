internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// A vault with its root key, for changes of slots.
struct VaultAdministration: Sendable {
  let session: VaultSession
  let head: VaultHead
  let root: SharedSecret
  let keys: TierKeys
  let opener: OpenedRoot

  init(
    session: VaultSession, head: VaultHead, opened: OpenedRoot
  ) throws(KeychainError) {
    self.session = session
    self.head = head
    opener = opened
    root = opened.root
    keys = try TierKeys(root: self.root.bytes)
    guard keys.checks == head.row.checks else {
      throw KeychainError(
        .damaged, "a slot of the vault opens, but to another vault's key",
        recovery: .restoreBackup)
    }
  }

  /// Changes slots in one transaction, if the whole vault is intact.
  func change<Result>(
    progress: ((VaultProgress) -> Void)? = nil,
    _ body: (inout SlotChange) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    let (result, state) = try transaction { change throws(KeychainError) in
      // The work takes time, and the commit may then have to wait for readers.
      try session.deadline.excluding { () throws(KeychainError) in
        try change.requireIntact(opening: keys.openTierOnly, progress: progress)
      }
      let result = try body(&change)
      return (result, try change.writer.finish())
    }
    session.remember(state, keys.checks.open)
    return result
  }

  /// Fails unless the whole vault is intact, as ``change(progress:_:)`` does.
  ///
  /// Used before a person is asked to do some work. The change itself verifies the vault again.
  func requireIntact() throws(KeychainError) {
    try inspect { change throws(KeychainError) in
      try session.deadline.excluding { () throws(KeychainError) in
        try change.requireIntact(opening: keys.openTierOnly, progress: nil)
      }
    }
  }

  /// Runs `body` in a transaction that writes nothing and does not verify the vault.
  ///
  /// Checks the number of slots and, unless `checkingSlots` is `false`, the mac of each slot.
  func inspect<Result>(
    checkingSlots: Bool = true, _ body: (borrowing SlotChange) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try transaction(checkingSlots: checkingSlots) { change throws(KeychainError) in try body(change)
    }
  }

  /// Runs a transaction.
  ///
  /// If `checkingSlots` is `false`, `body` must check the macs of the slots.
  func transaction<Result>(
    checkingSlots: Bool = true, _ body: (inout SlotChange) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    let (keys, root, session, opener) = (keys, root, session, opener)
    let sealing = ItemSealing(keys: keys, device: try session.unlocker.device.find())
    return try session.opened.storage.write(session.deadline) {
      (rows: any WritableVaultRows) throws(KeychainError) -> Result in
      guard try rows.vaultRow().checks == keys.checks else {
        throw KeychainError(.busy, "the vault got new keys meanwhile", recovery: .tryAgain)
      }
      let state = try session.checkedState(rows, keys).row
      var change = try SlotChange(
        writer: VaultWriter(rows: rows, sealing: sealing, state: state), oldState: state,
        keys: keys, root: root)
      try change.requireAllSlots()
      if checkingSlots { try change.requireTrustedSlots() }
      // Otherwise two processes could each remove the slot that the other one used.
      guard try change.slots().contains(opener.slot) else { throw .slotsChanged }
      return try body(&change)
    }
  }
}

/// A change of slots within a transaction.
struct SlotChange: ~Copyable {
  var writer: VaultWriter

  /// The state row that the transaction found.
  let oldState: StateRow
  let keys: TierKeys
  let root: SharedSecret

  func slots() throws(KeychainError) -> [SlotRow] { try writer.rows.slots().intact }

  /// Compares the number of slots with the state row.
  ///
  /// This finds a hidden slot before anybody is asked, and without reading the items.
  func requireAllSlots() throws(KeychainError) {
    let slots = try writer.rows.slots()
    let count = slots.intact.count + slots.damaged.count
    guard count == writer.state.slotCount else {
      throw Self.notIntact(
        VaultVerification.slotCountProblem(expected: writer.state.slotCount, found: count))
    }
  }

  /// Verifies the whole vault before any row is changed.
  ///
  /// A change removes its old rows from the sum in the state row and keeps the other terms. A row
  /// that was hidden before the change and put back afterwards would then be accepted. Opens the
  /// items whose keys are in `keys`.
  func requireIntact(
    opening keys: TierKeys, progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) {
    var verification = VaultVerification(
      rows: writer.rows, sealing: ItemSealing(keys: keys, device: writer.sealing.device),
      state: oldState, progress: progress)
    guard let problem = try verification.run().report.problems.first else { return }
    throw Self.notIntact(problem)
  }

  private static func notIntact(_ problem: String) -> KeychainError {
    KeychainError(
      .damaged, "the vault is not intact, so its slots stay as they are: \(problem)",
      recovery: "see all problems with \(.verify), and restore a backup; or accept "
        + "the vault as it is, with \(.acceptRestored)")
  }

  /// Fails unless every slot was made by a holder of the root key.
  func requireTrustedSlots() throws(KeychainError) {
    let slots = try writer.rows.slots()
    try slots.requireUndamaged()
    for slot in slots.intact {
      guard try slot.isMade(byHolderOf: root.bytes) else {
        throw .forgedSlot(slot.number)
      }
    }
  }

  /// Returns the number for a new slot.
  func freeNumber(for kind: SlotKind) throws(KeychainError) -> UInt32 {
    let slots = try slots()
    let newest = slots.map(\.number).max() ?? 0
    guard slots.count < 32, newest < .max,
      kind != .passphrase || slots.count(where: { $0.kind == .passphrase }) < 8
    else {
      throw KeychainError(
        .refused, "the vault has as many slots as allowed: at most 32, and at most 8 passphrases",
        recovery: "remove one with "
          + "\(.removeSlot(number: nil, deletingItems: false, withNewKeys: false))")
    }
    return newest + 1
  }
}
