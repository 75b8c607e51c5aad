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
