internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Adds a passphrase.
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
  ///   - name: What people call the slot: at most 256 bytes of UTF-8, which the vault encrypts.
  ///   - confirm: Receives what stays and what is lost, if the vault gets new keys. Return `false` to
  ///     change nothing. Without this closure, nothing is changed if items would be lost.
  ///   - progress: Called from time to time with the progress of the verification or the sealing.
  /// - Returns: The new slot.
  /// - Throws: ``KeychainError``, like every change of slots: ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if no secret at hand opens the root key (cached keys,
  ///   or a device slot with limited access, are not enough), ``KeychainError/Code/refused`` if
  ///   there are too many slots, the secret at hand does not administer the vault, or the vault is
  ///   shared, ``KeychainError/Code/unsupportedFormat`` if a slot is of a kind that this release
  ///   does not know, ``KeychainError/Code/damaged`` if the vault is not intact, for example
  ///   because a slot was changed outside it, or ``KeychainError/Code/cancelled`` if `confirm`
  ///   returns `false`.
  @discardableResult
  public func addPassphraseSlot(
    _ passphrase: borrowing SecretBytes, name: String = "",
    confirm: (RekeyPlan) throws(KeychainError) -> Bool = losingNothing,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration(adding: .passphrase, name: name)
    let plan = try plan(.passphrase, admin, confirm)
    return try add(try slotInput(passphrase: passphrase), name, admin, plan, progress)
  }

  /// Adds a passphrase and asks for it last, after everything else was checked.
  ///
  /// - Parameters:
  ///   - name: As of ``addPassphraseSlot(_:name:confirm:progress:)``.
  ///   - confirm: As of ``addPassphraseSlot(_:name:confirm:progress:)``.
  ///   - progress: Called from time to time with the progress of the verification or the sealing.
  ///   - passphrase: Returns the passphrase. The time it takes does not count against the deadline.
  /// - Returns: The new slot.
  /// - Throws: As ``addPassphraseSlot(_:name:confirm:progress:)``, and what the closure throws.
  package func addPassphraseSlot(
    name: String = "",
    confirm: (RekeyPlan) throws(KeychainError) -> Bool = losingNothing,
    progress: ((VaultProgress) -> Void)?,
    passphrase: () throws(KeychainError) -> SecretBytes
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration(adding: .passphrase, name: name)
    let plan = try plan(.passphrase, admin, confirm)
    let answer = try admin.session.deadline.excluding { () throws(KeychainError) in
      try passphrase()
    }
    return try add(try slotInput(passphrase: answer), name, admin, plan, progress)
  }

  /// Adds a key file.
  ///
  /// As with a passphrase, the first one limits what the device secret opens.
  ///
  /// - Parameters:
  ///   - path: The path of a file of 32 bytes to 64 KiB; all of its bytes count. The file is only
  ///     read. Its contents are not stretched: if they are a few readable words, a notice
  ///     (``Notice/Kind/weakKeyFile``) says so.
  ///   - name: As of ``addPassphraseSlot(_:name:confirm:progress:)``.
  ///   - confirm: As of ``addPassphraseSlot(_:name:confirm:progress:)``.
  ///   - progress: Called from time to time with the progress of the verification or the sealing.
  /// - Returns: The new slot.
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
    reportIfWeak(contents, path)
    try SecretFile.sync(path)
    let plan = try plan(.keyFile, admin, confirm)
    return try add(try SlotInput.keyFile(contents), name, admin, plan, progress)
  }

  /// Adds this machine's device secret.
  ///
  /// It opens indexes and the items that need no unlock. In a vault without a passphrase, key file
  /// or recipient it opens everything, like the device slot of the machine that created the vault.
  /// So a vault whose device secret was lost works again after it was opened with a recovery code.
  ///
  /// - Parameter name: As of ``addPassphraseSlot(_:name:confirm:progress:)``.
  /// - Returns: The new slot.
  /// - Throws: As ``addPassphraseSlot(_:name:confirm:progress:)``, and
  ///   ``KeychainError/Code/alreadyExists`` if this device has a slot.
  @discardableResult
  public func addDeviceSlot(
    name: String = ""
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration(adding: .device, name: name)
    if let slot = try unlocker.device.slot(admin.head) {
      throw KeychainError(.alreadyExists, "slot \(slot.number) is this device's already")
    }
    let input = try SlotInput.device(try unlocker.device.findOrCreate())
    return try admin.change { change throws(KeychainError) in
      let number = try change.freeNumber(for: .device)
      let grant: SlotGrant = change.slots.contains(where: \.isDailyKey) ? .openTier : .administers
      let sealed = try change.seal(input, number: number, grant: grant, name: name)
      change.put(sealed)
      return sealed.described(own: sealed.number)
    }
  }

  /// Agrees to new keys only if nothing is lost.
  public static func losingNothing(_ plan: RekeyPlan) throws(KeychainError) -> Bool {
    plan.otherDeviceItemCount == 0
  }

  private static let limitingDevices = RekeyDecision.Request(limitsDevices: true)

  /// Returns what new keys would change, after a person agreed; `nil` if the slot needs no new keys.
  ///
  /// Whoever has a device secret that opens everything knows the root key and the administration
  /// key. Everything that would be refused at the end is refused here, before anybody is asked.
  private func plan(
    _ kind: SlotKind, _ admin: VaultAdministration,
    _ confirm: (RekeyPlan) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> RekeyPlan? {
    let plan = try admin.inspect { change throws(KeychainError) -> RekeyPlan? in
      _ = try change.freeNumber(for: kind)
      guard change.slots.contains(where: \.isFullDevice) else { return nil }
      return try RekeyDecision(change, Self.limitingDevices).plan
    }
    if let plan { try admin.requireAgreement(to: plan, confirm) }
    return plan
  }

  private func add(
    _ input: consuming SlotInput, _ name: String, _ admin: VaultAdministration,
    _ agreed: RekeyPlan?, _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> VaultSlot {
    guard let agreed else { return try addWithoutRekey(input, name, admin) }
    let kind = input.kind
    let outcome = try VaultRekey(admin: admin, progress: progress).run(
      adding: VaultRekey.NewSlot(input, name: name)
    ) { change throws(KeychainError) in
      _ = try change.freeNumber(for: kind)
      let decision = try RekeyDecision(change, Self.limitingDevices)
      guard decision.plan.staysWithin(agreed) else { throw .slotsChanged }
      return decision
    }
    reportGrantChange(outcome)
    guard let added = outcome.added else {
      throw KeychainError(.internalFailure, "a slot was not added")
    }
    return added.described(own: nil)
  }

  /// Adds a slot without new keys, if no device slot opens everything.
  private func addWithoutRekey(
    _ input: borrowing SlotInput, _ name: String, _ admin: VaultAdministration
  ) throws(KeychainError) -> VaultSlot {
    try admin.change { change throws(KeychainError) in
      // A device slot that opens everything by now would have to be limited.
      guard !change.slots.contains(where: \.isFullDevice) else { throw .slotsChanged }
      let sealed = try change.seal(
        input, number: try change.freeNumber(for: input.kind), name: name)
      change.put(sealed)
      return sealed.described(own: nil)
    }
  }

  private func reportGrantChange(_ outcome: VaultRekey.Outcome) {
    let hasRecipients = outcome.decision.carried.contains { $0.slot.kind == .recipient }
    let isFollowed = outcome.decision.plan.isSignedByRecoveryCode
    configuration.notice?(
      Notice(
        kind: .deviceGrantChanged,
        message: "the device key alone now opens only what needs no unlock; "
          + "copies of the vault made before stay as open as they were",
        recovery: hasRecipients && !isFollowed
          ? "give the vault's new check to identities that are pinned to it, with "
            + "\(.pinIdentity(check: nil))" : nil))
  }

  /// Opens the root key for a change of slots.
  func administration() throws(KeychainError) -> VaultAdministration {
    let session = try existingSession()
    try session.requireKnownHead()
    let opener = try unlocker.administrator(session.head, path: session.path, session.deadline)
    return try VaultAdministration(session: session, opener: opener)
  }

  /// Opens the root key to add a slot, if the vault may have one of its kind.
  func administration(
    adding kind: SlotKind, name: String
  ) throws(KeychainError) -> VaultAdministration {
    guard name.utf8.count <= Member.maximumNameCount else {
      throw KeychainError(
        .invalidArgument, "the name of a slot has at most \(Member.maximumNameCount) bytes")
    }
    let admin = try administration()
    guard admin.list.vaultKind == .local || kind == .recipient || kind == .recoveryCode else {
      throw KeychainError(
        .refused,
        "a shared vault has no \(kind) slot, because what opens it must sign what it writes",
        recovery: "add a member with \(.addSlot(.identity))")
    }
    return admin
  }
}
