public import KeychainCredentials
public import KeychainSecrets
public import KeychainVaultFormat
internal import PrephirencesSystem

extension Vault {
  /// Adds a passphrase, and returns its slot.
  ///
  /// The first passphrase or key file of a vault limits the device secret: everything is sealed
  /// again under a new root key and a new administration key, and the device secret then opens only
  /// indexes and items that need no unlock. All other slots stay. Earlier copies of the vault still
  /// open as before.
  ///
  /// Like every change of slots, this verifies the whole vault first, which takes longer the more
  /// items there are.
  ///
  /// - Parameters:
  ///   - passphrase: The passphrase, not empty.
  ///   - name: A name for people, at most 256 bytes of UTF-8, which the vault encrypts.
  ///   - confirm: Receives what stays and what is lost, if the vault gets new keys. Return `false`
  ///     to change nothing. Without this closure, nothing is changed if items would be lost.
  ///   - progress: Called from time to time with the progress of the verification or the sealing.
  /// - Throws: ``KeychainError``, like every change of slots: ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if no available secret opens the root key (cached
  ///   keys, or a device slot with limited access, are not enough), ``KeychainError/Code/refused``
  ///   if there are too many slots, if the secret does not administer the vault, or if the vault is
  ///   shared, ``KeychainError/Code/unsupportedFormat`` if this release does not know the kind of a
  ///   slot, ``KeychainError/Code/damaged`` if the vault is not intact, for example because a slot
  ///   was changed outside it, or ``KeychainError/Code/cancelled`` if `confirm` returns `false`.
  @discardableResult
  public func addPassphraseSlot(
    _ passphrase: borrowing SecretBytes, name: String = "",
    confirm: (RekeyPlan) throws(KeychainError) -> Bool = losingNothing,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> VaultSlot {
    try addPassphraseSlot(name: name, confirm: confirm, progress: progress) {
      () throws(KeychainError) in try passphrase.copy()
    }
  }

  /// Adds a passphrase, and asks for it last; that time does not count against the deadline.
  package func addPassphraseSlot(
    name: String = "",
    confirm: (RekeyPlan) throws(KeychainError) -> Bool = losingNothing,
    progress: ((VaultProgress) -> Void)?,
    passphrase: () throws(KeychainError) -> SecretBytes
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration(adding: .passphrase, name: name)
    return try add(.passphrase, name, admin, confirm, progress) { () throws(KeychainError) in
      try slotInput(passphrase: try passphrase())
    }
  }

  /// Adds a key file, and returns its slot.
  ///
  /// As with a passphrase, the first one limits what the device secret opens. `name`, `confirm` and
  /// `progress` are as for ``addPassphraseSlot(_:name:confirm:progress:)``.
  ///
  /// - Parameter path: The path of a file of 32 bytes to 64 KiB; all of its bytes count. The file
  ///   is only read. Its contents are not stretched: if they are a few readable words, a notice
  ///   (``Notice/Kind/weakKeyFile``) reports it.
  /// - Throws: As ``addPassphraseSlot(_:name:confirm:progress:)``, and
  ///   ``KeychainError/Code/alreadyExists`` if the file has a slot.
  @discardableResult
  public func addKeyFileSlot(
    path: String, name: String = "",
    confirm: (RekeyPlan) throws(KeychainError) -> Bool = losingNothing,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> VaultSlot {
    let contents = try KeyFile.read(
      path, name: "the new key file", policy: configuration.secretFilePolicy)
    let admin = try administration(adding: .keyFile, name: name)
    let inputKey = try KeyFile.inputKey(contents)
    for slot in admin.head.slots(of: .keyFile) {
      guard try SlotSealing.open(slot, inputKey: inputKey, vault: admin.head.id) == nil else {
        throw KeychainError(
          .alreadyExists, "slot \(slot.number) is this key file's already", recovery: .listSlots)
      }
    }
    let input = try slotInput(keyFile: contents, path, name: path)
    return try add(.keyFile, name, admin, confirm, progress) { input }
  }

  /// Adds this machine's device secret, and returns its slot.
  ///
  /// It opens indexes and the items that need no unlock. In a vault without a passphrase, key file
  /// or recipient it opens everything, like the device slot of the machine that created the vault.
  /// So a vault whose device secret was lost works again after it was opened with a recovery code.
  ///
  /// - Throws: As ``addPassphraseSlot(_:name:confirm:progress:)``, and
  ///   ``KeychainError/Code/alreadyExists`` if this device has a slot.
  @discardableResult
  public func addDeviceSlot(name: String = "") throws(KeychainError) -> VaultSlot {
    let admin = try administration(adding: .device, name: name)
    if let slot = try unlocker.ownSlot(of: admin.head)?.slot {
      throw KeychainError(.alreadyExists, "slot \(slot.number) is this device's already")
    }
    let input = try SlotInput.device(try unlocker.state.findOrCreateSecret())
    return try admin.change { change throws(KeychainError) in
      let number = try change.freeNumber(for: .device)
      let grant: SlotGrant = change.slots.contains(where: \.isDailyKey) ? .openTier : .administers
      return change.put(
        try change.epoch.seal(input, number: number, grant: grant, name: name), isThisDevice: true)
    }
  }

  /// Adds a new recovery code for a person to write down, and returns its slot.
  ///
  /// The code exists only during this call and cannot be shown again. The grant of the device slot
  /// does not change.
  ///
  /// - Parameters:
  ///   - name: As for ``addPassphraseSlot(_:name:confirm:progress:)``.
  ///   - confirm: Receives the code, shows it, and returns whether it was written down. Its time
  ///     does not count against the deadline.
  /// - Throws: As ``addPassphraseSlot(_:name:confirm:progress:)``; ``KeychainError`` with
  ///   ``KeychainError/Code/refused`` if this is a shared vault that has a recovery code,
  ///   ``KeychainError/Code/cancelled`` if `confirm` returns `false`, or what it throws. Nothing is
  ///   changed then.
  @discardableResult
  public func addRecoveryCodeSlot(
    name: String = "",
    confirm: (borrowing RecoveryCode) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration(adding: .recoveryCode, name: name)
    return try add(.recoveryCode, name, admin, Self.losingNothing, nil) {
      () throws(KeychainError) in try Self.confirmedCode(confirm)
    }
  }

  /// Adds a recipient, whose identity then opens the vault, and returns its slot.
  ///
  /// The grant of the device slot does not change.
  ///
  /// - Parameters:
  ///   - recipient: The public half of the identity.
  ///   - name: As for ``addPassphraseSlot(_:name:confirm:progress:)``.
  ///   - requested: What the recipient may do: ``SlotGrant/readsAndWrites`` by default in a shared
  ///     vault. In another vault, every recipient ``SlotGrant/administers``.
  /// - Throws: As ``addPassphraseSlot(_:name:confirm:progress:)``; ``KeychainError`` with
  ///   ``KeychainError/Code/alreadyExists`` if the recipient has a slot,
  ///   ``KeychainError/Code/invalidArgument`` if its key is unusable, or
  ///   ``KeychainError/Code/refused`` if the vault cannot have that grant.
  @discardableResult
  public func addRecipientSlot(
    _ recipient: VaultRecipient, name: String = "", grant requested: SlotGrant? = nil
  ) throws(KeychainError) -> VaultSlot {
    guard recipient.isUsable else {
      throw KeychainError(
        .invalidArgument, "no identity belongs to \(recipient)",
        recovery: "make an identity with \(.createIdentity)")
    }
    let admin = try administration(adding: .recipient, name: name)
    let isShared = admin.list.vaultKind == .shared
    let grant = requested ?? (isShared ? .readsAndWrites : .administers)
    guard grant == .administers || (isShared && grant != .openTier) else {
      throw KeychainError(
        .refused, "a vault that is not shared has only recipients that administer it",
        recovery: "add the recipient without limits, or create a shared vault")
    }
    return try admin.change { change throws(KeychainError) in
      if let slot = change.slots.first(where: { $0.member.recipient == recipient }) {
        throw KeychainError(
          .alreadyExists, "slot \(slot.number) is this recipient's already", recovery: .listSlots)
      }
      let number = try change.freeNumber(for: .recipient)
      return change.put(
        try change.epoch.seal(to: recipient, number: number, grant: grant, name: name))
    }
  }

  /// Agrees to new keys only if nothing is lost.
  public static func losingNothing(_ plan: RekeyPlan) throws(KeychainError) -> Bool {
    plan.otherDeviceItemCount == 0
  }

  /// Adds a slot; if it limits a device slot, the vault gets new keys, because the device secret's
  /// owner knows the old ones.
  private func add(
    _ kind: SlotKind, _ name: String, _ admin: VaultAdministration,
    _ confirm: (RekeyPlan) throws(KeychainError) -> Bool, _ progress: ((VaultProgress) -> Void)?,
    _ input: () throws(KeychainError) -> SlotInput
  ) throws(KeychainError) -> VaultSlot {
    let request = RekeyDecision.Request(limitsDevices: true)
    let agreed = try admin.agreement(confirm) { change throws(KeychainError) in
      _ = try change.freeNumber(for: kind)
      if kind.cutsDevices, change.slots.contains(where: \.isFullDevice) {
        return try RekeyDecision(change, request).plan
      }
      // Don't ask a person for a secret that can't be used, or for a damaged vault.
      try change.requireWholePages()
      return nil
    }
    let input = try admin.session.deadline.excluding(input)
    guard let agreed else {
      return try admin.change { change throws(KeychainError) in
        let number = try change.freeNumber(for: kind)
        return change.put(try change.epoch.seal(input, number: number, name: name))
      }
    }
    let outcome = try VaultRekey(admin: admin, progress: progress).run(adding: {
      epoch, number, slots throws(KeychainError) -> VaultSlot in
      let slot = try epoch.seal(input, number: number, name: name)
      slots.append(slot)
      return slot.described(isThisDevice: nil)
    }) { change throws(KeychainError) in
      try RekeyDecision(change, request, within: agreed)
    }
    reportGrantChange(outcome.decision)
    return outcome.added
  }

  private func reportGrantChange(_ decision: RekeyDecision) {
    let hasRecipients = decision.carried.contains { $0.slot.kind == .recipient }
    let isFollowed = decision.plan.isSignedByRecoveryCode
    configuration.report(
      .deviceGrantChanged,
      "the device key alone now opens only what needs no unlock; "
        + "copies of the vault made before stay as open as they were",
      recovery: hasRecipients && !isFollowed
        ? "give the vault's new check to identities that are pinned to it, with "
          + "\(.pinIdentity(check: nil))" : nil)
  }

  /// Opens the root key for a change of slots.
  func administration() throws(KeychainError) -> VaultAdministration {
    let session = try existingSession()
    try session.requireKnownHead()
    return try VaultAdministration(session)
  }

  /// Opens the root key to add a slot, if the vault may have another one of this kind.
  private func administration(
    adding kind: SlotKind, name: String
  ) throws(KeychainError) -> VaultAdministration {
    try Member.check(name: name)
    let admin = try administration()
    guard admin.list.vaultKind == .local || kind == .recipient || kind == .recoveryCode else {
      throw KeychainError(
        .refused,
        "a shared vault has no \(kind) slot, because each slot must be able to sign changes",
        recovery: "add a member with \(.addSlot(.identity))")
    }
    return admin
  }
}

extension Vault {
  /// Gives the vault a new root key, and seals everything again, in one transaction.
  ///
  /// The old root key then opens nothing in this vault, nor does any removed slot, changed
  /// passphrase, or copy of the vault. Earlier copies keep their contents: change important secrets
  /// where they are used. If the call fails or the process ends, the vault is unchanged.
  ///
  /// Every slot of the signed list of members gets the new key without its secret. `confirm`
  /// receives their names and fingerprints: compare them. Slots in the file that are not in the
  /// list are removed, and items that are bound to other devices are lost. If no passphrase, key
  /// file or recipient is left, this machine's device slot opens everything. Keys that were cached
  /// for other programs are removed.
  ///
  /// The administration key changes if a slot that administers is removed, because its owner knows
  /// the key. The vault then has a new check. Users who have seen the vault or are pinned to it
  /// follow the change without comparing the check only if a recovery code that stays opened the
  /// vault for this call.
  ///
  /// - Parameters:
  ///   - number: The number of a slot to remove in the same transaction; `nil` for none.
  ///   - deletingItems: Whether items that need a passphrase are deleted if no passphrase is kept.
  ///   - newAdministrationKey: Whether the administration key changes in any case.
  ///   - droppingDamaged: Whether items that don't open are deleted; otherwise they are an error.
  ///   - confirm: Receives what stays and what is lost. Return `false` to change nothing.
  ///   - progress: Called from time to time with the progress of the work.
  /// - Throws: ``KeychainError``, as ``addPassphraseSlot(_:name:confirm:progress:)``. Also
  ///   ``KeychainError/Code/cancelled`` if `confirm` returns `false`,
  ///   ``KeychainError/Code/refused`` if nothing would be left that administers the vault, if the
  ///   slot opened this shared vault, or if items need a passphrase and none is kept,
  ///   ``KeychainError/Code/notFound`` if the slot to remove does not exist, or
  ///   ``KeychainError/Code/busy`` if slots were changed meanwhile.
  @discardableResult
  public func rekey(
    removing number: UInt32? = nil, deletingItems: Bool = false,
    newAdministrationKey: Bool = false, droppingDamaged: Bool = false,
    confirm: (RekeyPlan) throws(KeychainError) -> Bool,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> RekeyReport {
    let outcome = try rekey(
      .init(
        removed: number.map { [$0] } ?? [], deletesItems: deletingItems,
        newAdministrationKey: newAdministrationKey, dropsDamaged: droppingDamaged),
      confirm, progress)
    return RekeyReport(plan: outcome.decision.plan, check: outcome.check)
  }

  /// Removes a slot, and gives the vault new keys in the same transaction; returns the credentials
  /// that were deleted.
  ///
  /// It works as
  /// ``rekey(removing:deletingItems:newAdministrationKey:droppingDamaged:confirm:progress:)``. With
  /// `keepingKeys`, the vault keeps its root key and its administration key. The slot's owner still
  /// knows them, and can open any copy of the file with them. If no passphrase, key file or
  /// recipient is left, this machine's device slot then opens everything.
  ///
  /// - Parameters:
  ///   - deletingItems: Whether items that need a passphrase are deleted with the last passphrase.
  ///   - droppingDamaged: Whether items that don't open are deleted with new keys; otherwise they
  ///     are an error.
  ///   - confirm: Receives what stays and what is lost with new keys; not called with
  ///     `keepingKeys`. Return `false` to change nothing. Without this closure, nothing is changed
  ///     if items of other devices would be lost.
  ///   - progress: Called from time to time with the progress of the work.
  /// - Throws: As
  ///   ``rekey(removing:deletingItems:newAdministrationKey:droppingDamaged:confirm:progress:)``.
  @discardableResult
  public func removeSlot(
    _ number: UInt32, keepingKeys: Bool = false, deletingItems: Bool = false,
    droppingDamaged: Bool = false,
    confirm: (RekeyPlan) throws(KeychainError) -> Bool = losingNothing,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> [Credential] {
    if keepingKeys { return try removeSlotKeepingKeys(number, deletingItems: deletingItems) }
    let request = RekeyDecision.Request(
      removed: [number], deletesItems: deletingItems, dropsDamaged: droppingDamaged)
    return try rekey(request, confirm, progress).decision.itemsToDelete.map(\.credential)
  }

  private func rekey(
    _ request: RekeyDecision.Request, _ confirm: (RekeyPlan) throws(KeychainError) -> Bool,
    _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> VaultRekey.Outcome<Void> {
    let admin = try administration()
    let agreed = try admin.agreement(confirm) { change throws(KeychainError) in
      try RekeyDecision(change, request).plan
    }
    let outcome = try VaultRekey(admin: admin, progress: progress).run {
      change throws(KeychainError) in
      try RekeyDecision(change, request, within: agreed)
    }
    let decision = outcome.decision
    report(decision.itemsToDelete, promotesDevice: decision.plan.promotesDevice)
    return outcome
  }

  private func removeSlotKeepingKeys(
    _ number: UInt32, deletingItems: Bool
  ) throws(KeychainError) -> [Credential] {
    let admin = try administration()
    let ownSlot = try unlocker.ownSlot(of: admin.head)?.slot.number
    let (deleted, isPromoted) = try admin.change {
      change throws(KeychainError) -> ([PassphraseItem], Bool) in
      let items = try change.itemsDeleted(with: change.slot(toRemove: number))
      try items.requireAgreement(deletingItems, removing: number, withNewKeys: false)
      for item in items { change.remove(item.item) }
      let promoted = try change.slots.filter { $0.number != number }.deviceToPromote(ownSlot)
      if let promoted {
        let inputKey = try admin.presented()[promoted.number]
        change.put(try change.epoch.reseal(promoted, grant: .administers, inputKey: inputKey))
      }
      change.removeSlot(number)
      return (items, promoted != nil)
    }
    report(deleted, promotesDevice: isPromoted)
    return deleted.map(\.credential)
  }

  /// Lists the credentials that removing a slot would delete: none, unless it is the last
  /// passphrase.
  ///
  /// - Throws: As ``removeSlot(_:keepingKeys:deletingItems:droppingDamaged:confirm:progress:)``.
  public func itemsDeleted(withSlot number: UInt32) throws(KeychainError) -> [Credential] {
    let admin = try administration()
    return try admin.inspect { change throws(KeychainError) -> [Credential] in
      try change.itemsDeleted(with: change.slot(toRemove: number)).map(\.credential)
    }
  }

  private func report(_ deleted: [PassphraseItem], promotesDevice: Bool) {
    if promotesDevice {
      configuration.report(
        .deviceGrantChanged,
        "the device key alone now opens everything, because there is no passphrase, key file or "
          + "recipient")
    }
    for item in deleted { observers.notify(CredentialChange(item.credential.identity, .removed)) }
  }

  /// Changes a passphrase in place: its slot keeps its number, and no item is changed.
  ///
  /// The slot is the given one, or the slot that the current passphrase opens, or the only
  /// passphrase slot. So a forgotten passphrase can be replaced by opening the vault with a key
  /// file, a recovery code or an identity. The new passphrase is hashed at the cost of new slots.
  ///
  /// Earlier copies of the vault still open with the old passphrase and contain the same keys. To
  /// replace those keys, use
  /// ``rekey(removing:deletingItems:newAdministrationKey:droppingDamaged:confirm:progress:)``. Like
  /// every change of slots, this verifies the whole vault first, which takes longer the more items
  /// there are.
  ///
  /// - Parameters:
  ///   - passphrase: The new passphrase, not empty.
  ///   - number: The number of the slot; `nil` to choose it as described above.
  /// - Throws: ``KeychainError``, like every change of slots: ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if no available secret opens the root key,
  ///   ``KeychainError/Code/damaged`` if the vault is not intact. Also
  ///   ``KeychainError/Code/notFound`` if there is no such slot, ``KeychainError/Code/ambiguous``
  ///   if there are several passphrases, ``KeychainError/Code/refused`` if there is no passphrase
  ///   or the slot is of another kind, or ``KeychainError/Code/busy`` if another process changed
  ///   the slot meanwhile.
  @discardableResult
  public func changePassphrase(
    to passphrase: borrowing SecretBytes, slot number: UInt32? = nil
  ) throws(KeychainError) -> VaultSlot {
    try changePassphrase(slot: number) { _ throws(KeychainError) in
      try passphrase.copy()
    }
  }

  /// Changes a passphrase in place as ``changePassphrase(to:slot:)`` does, and asks for it after
  /// the vault was opened.
  ///
  /// - Parameters:
  ///   - number: The number of the slot; `nil` to choose it.
  ///   - ask: Receives the slot and returns the new passphrase. Its time does not count against the
  ///     deadline.
  /// - Throws: As ``changePassphrase(to:slot:)``, and what `ask` throws.
  @discardableResult
  public func changePassphrase(
    slot number: UInt32? = nil,
    asking ask: (VaultSlot) throws(KeychainError) -> SecretBytes
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration()
    let slot = try passphraseSlot(number, admin)
    // Don't let a person choose a passphrase for a damaged vault.
    try admin.inspect { change throws(KeychainError) in try change.requireWholePages() }
    let input = try admin.session.deadline.excluding { () throws(KeychainError) in
      try slotInput(passphrase: try ask(slot.described(isThisDevice: nil)))
    }
    return try admin.change { change throws(KeychainError) in
      change.put(try change.epoch.seal(input, number: slot.number, name: slot.member.name))
    }
  }

  private func passphraseSlot(
    _ number: UInt32?, _ admin: VaultAdministration
  ) throws(KeychainError) -> ListedSlot {
    let listed = try admin.list.rows(in: admin.head)
    if let number {
      guard let slot = listed.first(where: { $0.number == number }) else { throw .noSlot(number) }
      guard slot.kind == .passphrase else {
        throw KeychainError(
          .refused, "slot \(number) is not a passphrase but a \(slot.kind)", recovery: .listSlots)
      }
      return slot
    }
    let slots = listed.filter { $0.kind == .passphrase }
    if let opened = slots.first(where: { $0.slot == admin.opened.slot }) { return opened }
    guard let only = slots.first else {
      throw KeychainError(
        .refused, "the vault has no passphrase to change", recovery: .addPassphrase)
    }
    guard slots.count == 1 else {
      let numbers = slots.map { "\($0.number)" }.joined(separator: ", ")
      throw KeychainError(
        .ambiguous, "the vault has \(slots.count) passphrases, in slots \(numbers)",
        recovery: "name the slot, with \(.nameSlot)")
    }
    return only
  }
}

extension SlotChange {
  /// Returns the items that are deleted with the last passphrase.
  fileprivate func itemsDeleted(with removed: ListedSlot) throws(KeychainError) -> [PassphraseItem]
  {
    guard removed.kind == .passphrase, slots.count(where: { $0.kind == .passphrase }) == 1
    else { return [] }
    return try passphraseItems(includingOtherDevices: true)
  }
}
