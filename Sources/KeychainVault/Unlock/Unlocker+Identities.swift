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
    if presented.pins.isEmpty {
      reportFirstSight(check, path)
    } else if !presented.pins.contains(check) {
      try requireFollowed(from: presented.pins, head, source: presented.source)
    }
    let identity = try VaultIdentity(seed: SharedSecret(copying: presented.secret).copy())
    var trial = SlotTrial()
    // Slots don't show whose they are. One that opens other keys or none must not hide the others.
    for slot in head.slots(.recipient) {
      let opened = try trial.open(slot, of: head) { () throws(KeychainError) in
        try SlotSealing.open(slot, identity: identity, vault: head.row.id)
      }
      if let opened { return opened }
    }
    if let failure = trial.failure { throw failure }
    try head.slots.requireUndamaged()
    throw KeychainError(
      .incorrectSecret,
      "the vault \(path) has no slot for the identity from \(presented.source)",
      recovery: .listWhatOpens)
  }

  /// Fails unless the vault's administration key followed a pinned one, and the seen record trusts
  /// it.
  ///
  /// A pin alone does not: whoever left knows the old key, and the pin names no recovery code.
  private func requireFollowed(
    from pins: [VaultCheck], _ head: VaultHead, source: String
  ) throws(KeychainError) {
    let check = try head.row.check()
    guard try head.oldChecks.contains(where: pins.contains) else {
      throw .notPinned(source, check, head.path)
    }
    guard let record = seenRecord(head.path).record, try record.leads(to: head) else {
      throw .successionNotFollowed(source, check, head.path)
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

extension SeenRecord {
  /// Whether the record trusts a vault's administration key: it is the one that was seen, or
  /// follows from it.
  func leads(to head: VaultHead) throws(KeychainError) -> Bool {
    guard id == head.row.id else { return false }
    if trusts(head.row.administration) { return true }
    return try Succession.lead(
      from: trusts, in: head.successions, to: head.row, trustingRecovery: recoveryKey)
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
