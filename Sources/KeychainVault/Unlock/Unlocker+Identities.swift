internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension Unlocker {
  /// Opens the vault with an identity.
  ///
  /// Anybody who can write the file could have sealed keys of another vault to the identity.
  /// Therefore the pins are checked, or, if there are none, the seen record.
  func openAsRecipient(
    _ presented: borrowing PresentedSecret, _ head: VaultHead, _ path: String
  ) throws(KeychainError) -> OpenedSlot {
    let check = try head.row.check()
    let isPinned = presented.pins.contains(check)
    if presented.pins.isEmpty {
      reportFirstSight(check, path)
    } else if !isPinned {
      try requireFollowed(from: presented.pins, head, source: presented.source)
    }
    let identity = try VaultIdentity(seed: SharedSecret(copying: presented.secret).copy())
    var trial = SlotTrial()
    // Slots don't show whose they are. One that opens other keys or none must not hide the others.
    for slot in head.slots(.recipient) {
      let opened = try trial.open(slot, of: head) { () throws(KeychainError) in
        try SlotSealing.open(slot, identity: identity, vault: head.row.id)
      }
      guard let opened else { continue }
      if !presented.pins.isEmpty, !isPinned { try follow(check, presented, head) }
      return opened
    }
    if let failure = trial.failure { throw failure }
    try head.slots.requireUndamaged()
    throw KeychainError(
      .incorrectSecret,
      "the vault \(path) has no slot for the identity from \(presented.source)",
      recovery: .listWhatOpens)
  }

  /// Fails unless successions lead from a pinned administration key to the vault's.
  ///
  /// The recovery code that is trusted for that is the one that was seen here before.
  private func requireFollowed(
    from pins: [VaultCheck], _ head: VaultHead, source: String
  ) throws(KeychainError) {
    let id = head.row.id
    let record = seenRecord(head.path).record
    let isFollowed = try Succession.lead(
      from: { key in (try? VaultCheck(id: id, administration: key)).map(pins.contains) ?? false },
      in: head.successions, to: head.row,
      trustingRecovery: record?.id == id ? record?.recoveryKey : nil)
    if isFollowed { return }
    let check = try head.row.check()
    guard try head.oldChecks.contains(where: pins.contains) else {
      throw .notPinned(source, check, head.path)
    }
    throw .successionNotFollowed(source, check, head.path)
  }

  /// Pins an identity to the key that follows from the pinned one.
  ///
  /// Otherwise it would have to be followed each time, and could not be after the recovery code was
  /// replaced. An identity file that cannot be written stays as it is.
  private func follow(
    _ check: VaultCheck, _ presented: borrowing PresentedSecret, _ head: VaultHead
  ) throws(KeychainError) {
    guard let path = presented.identityPath else { return }
    let old = try head.oldChecks
    do throws(KeychainError) {
      try IdentityWriting(path).pin(check, name: presented.source, dropping: old.contains)
    } catch {
      return
    }
  }

  /// Reports the check of a vault that is trusted only because it was never seen before.
  private func reportFirstSight(_ check: VaultCheck, _ path: String) {
    guard seenRecord(path).record == nil else { return }
    configuration.notice?(
      Notice(
        kind: .firstSight,
        message:
          "the vault \(path) is seen here for the first time, and the identity is not pinned to "
          + "any vault",
        recovery:
          "compare its check, \("\(check)"), with what \(.status) shows where the vault was made"))
  }
}

extension KeychainError {
  static func notPinned(_ source: String, _ check: VaultCheck, _ path: String) -> Self {
    Self(
      .rolledBack,
      "the identity from \(source) is not pinned to \(path), which is another vault; "
        + "its check is \(check)",
      recovery: "if that is the check where the vault was made, "
        + "run \(.pinIdentity(check: "\(check)"))")
  }

  fileprivate static func successionNotFollowed(
    _ source: String, _ check: VaultCheck, _ path: String
  ) -> Self {
    Self(
      .rolledBack,
      "the vault \(path) has a new administration key since an administrator left, and no recovery "
        + "code that was seen here signed the change; the identity from \(source) is pinned to the "
        + "old key, and the new check is \(check)",
      recovery: "ask who administers the vault; if \(.status) shows this check there, "
        + "run \(.pinIdentity(check: "\(check)"))")
  }
}

extension VaultHead {
  /// The checks of the vault under its former administration keys.
  fileprivate var oldChecks: [VaultCheck] {
    get throws(KeychainError) {
      var checks: [VaultCheck] = []
      for row in successions {
        let old = try Succession(row, of: self.row.id).oldKey
        checks.append(try VaultCheck(id: self.row.id, administration: old))
      }
      return checks
    }
  }
}
