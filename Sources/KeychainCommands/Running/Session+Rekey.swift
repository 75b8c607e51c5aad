internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainTerminal
internal import KeychainVault

extension Session {
  /// Gives the vault new keys, and says what was done.
  ///
  /// A slot can be removed in the same step, with the items that need a passphrase if none is kept. If `isAgreed`, nothing is
  /// asked, and everything goes that is not kept.
  func rekey(
    removing removed: UInt32? = nil, deletingItems: Bool = false, keeping kept: KeptSlotOptions,
    assumingYes isAgreed: Bool
  ) throws(KeychainError) {
    try kept.recipients.requireSlots(in: vault)
    let wasCached = try vault.status().cachedFor != nil
    let asked = isAgreed ? nil : prompt
    let report = try withProgress { progress throws(KeychainError) in
      try vault.rekey(
        removing: removed, deletingItems: deletingItems, keeping: try kept.sources(),
        asking: { slot, failures throws(KeychainError) in
          try asked?.secret(UserInterface.questionToKeep(slot, failures: failures))
        },
        keepingRecipient: { slot throws(KeychainError) in
          try kept.recipients.keeps(slot, asking: asked)
        },
        confirm: { plan throws(KeychainError) in try confirm(plan, assumingYes: isAgreed) },
        progress: progress)
    }
    for line in UserInterface.lines(of: report) { interface.say(line) }
    for hint in UserInterface.hints(about: report) { interface.hint(hint) }
    if wasCached { interface.hint(UserInterface.lockedByNewKeys) }
  }

  private func confirm(
    _ plan: RekeyPlan, assumingYes isAgreed: Bool
  ) throws(KeychainError) -> Bool {
    let hasDeviceKey = try vault.status().hasDeviceSecret
    for line in UserInterface.losses(of: plan, deviceKeyExists: hasDeviceKey) {
      interface.say(line, isAskedAbout: !isAgreed)
    }
    guard isAgreed || prompt != nil else { throw .wouldLoseSomething }
    return try confirm(UserInterface.questionToRekey, assumingYes: isAgreed)
  }
}
