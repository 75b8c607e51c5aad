internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Adds a passphrase.
  ///
  /// The first passphrase or key file of a vault limits the device secret: everything is sealed
  /// again under a new root key, and the device secret then opens only indexes and items that need
  /// no unlock. Earlier copies of the vault still open as before.
  ///
  /// Like every change of slots, this verifies the whole vault first, which takes longer the more
  /// items there are.
  ///
  /// - Parameters:
  ///   - passphrase: The passphrase, not empty.
  ///   - isKept: Receives the slot of a recipient, and returns whether it gets the new root key.
  ///     Called only if there will be a new root key; without this closure, no recipient gets it.
  ///     Other recipients must be removed first, with ``removeSlot(_:deletingItems:progress:)``.
  ///     See
  ///     ``rekey(removing:deletingItems:keeping:asking:keepingRecipient:confirm:progress:)``.
  ///   - progress: Called from time to time with the progress of the verification or the sealing.
  /// - Returns: The new slot.
  /// - Throws: ``KeychainError``, like every change of slots: ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if no secret at hand opens the root key (cached keys,
  ///   or a device slot with limited access, are not enough), ``KeychainError/Code/refused`` if
  ///   there are too many slots, or slots that cannot get a new root key, or
  ///   ``KeychainError/Code/damaged`` if the vault is not intact, for example because a slot was
  ///   changed outside it.
  @discardableResult
  public func addPassphraseSlot(
    _ passphrase: borrowing SecretBytes,
    keepingRecipient isKept: (VaultSlot) throws(KeychainError) -> Bool = {
      (_) throws(KeychainError) in false
    },
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration()
    let secrets = try carriedSecrets(admin, nil, isKept)
    return try add(try slotInput(passphrase: passphrase), admin, secrets, progress)
  }

  /// Adds a passphrase and asks for it last, after everything else was checked.
  ///
  /// - Parameters:
  ///   - askForCode: Asks for each recovery code that gets the new keys; `nil` if there is nobody
  ///     to ask.
  ///   - isKept: As of ``addPassphraseSlot(_:keepingRecipient:progress:)``.
  ///   - progress: Called from time to time with the progress of the verification or the sealing.
  ///   - passphrase: Returns the passphrase. The time it takes does not count against the deadline.
  /// - Returns: The new slot.
  /// - Throws: As ``addPassphraseSlot(_:keepingRecipient:progress:)``, and what the closures throw.
  package func addPassphraseSlot(
    askingForCode askForCode: ((VaultSlot, Int) throws(KeychainError) -> SecretBytes?)?,
    keepingRecipient isKept: (VaultSlot) throws(KeychainError) -> Bool,
    progress: ((VaultProgress) -> Void)?,
    passphrase: () throws(KeychainError) -> SecretBytes
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration()
    let secrets = try carriedSecrets(admin, askForCode, isKept)
    let answer = try admin.session.deadline.excluding { () throws(KeychainError) in
      try passphrase()
    }
    return try add(try slotInput(passphrase: answer), admin, secrets, progress)
  }

  /// Adds a key file.
  ///
  /// As with a passphrase, the first one limits what the device secret opens.
  ///
  /// - Parameters:
  ///   - path: The path of a file of 32 bytes to 64 KiB; all of its bytes count. The file is only
  ///     read. Its contents are not stretched: if they are a few readable words, a notice
  ///     (``Notice/Kind/weakKeyFile``) says so.
  ///   - isKept: As of ``addPassphraseSlot(_:keepingRecipient:progress:)``.
  ///   - progress: Called from time to time with the progress of the verification or the sealing.
  /// - Returns: The new slot.
  /// - Throws: As ``addPassphraseSlot(_:keepingRecipient:progress:)``, and
  ///   ``KeychainError/Code/alreadyExists`` if the file has a slot.
  @discardableResult
  public func addKeyFileSlot(
    path: String,
    keepingRecipient isKept: (VaultSlot) throws(KeychainError) -> Bool = {
      (_) throws(KeychainError) in false
    },
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> VaultSlot {
    try addKeyFileSlot(
      path: path, askingForCode: nil, keepingRecipient: isKept, progress: progress)
  }

  /// Adds a key file, and asks for each recovery code that gets the new keys.
  package func addKeyFileSlot(
    path: String,
    askingForCode askForCode: ((VaultSlot, Int) throws(KeychainError) -> SecretBytes?)?,
    keepingRecipient isKept: (VaultSlot) throws(KeychainError) -> Bool,
    progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> VaultSlot {
    let contents = try KeyFile.read(
      path, name: "the new key file", policy: configuration.secretFilePolicy)
    let admin = try administration()
    let inputKey = try KeyFile.inputKey(contents)
    for slot in admin.head.slots(.keyFile)
    where try SlotSealing.open(slot, inputKey: inputKey) != nil {
      throw KeychainError(.alreadyExists, "slot \(slot.number) is this key file's already")
    }
    reportIfWeak(contents, path)
    let secrets = try carriedSecrets(admin, askForCode, isKept)
    return try add(try SlotInput.keyFile(contents), admin, secrets, progress)
  }

  /// Adds this machine's device secret.
  ///
  /// It opens indexes and the items that need no unlock. In a vault without a passphrase, key file
  /// or recipient it opens everything, like the device slot of the machine that created the vault.
  /// So a vault whose device secret was lost works again after it was opened with a recovery code.
  ///
  /// - Parameter progress: Called from time to time with the progress of the verification.
  /// - Returns: The new slot.
  /// - Throws: As ``addPassphraseSlot(_:keepingRecipient:progress:)``, and
  ///   ``KeychainError/Code/alreadyExists`` if this device has a slot.
  @discardableResult
  public func addDeviceSlot(
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration()
    if let slot = try unlocker.device.slot(admin.head) {
      throw KeychainError(.alreadyExists, "slot \(slot.number) is this device's already")
    }
    let input = try SlotInput.device(try unlocker.device.findOrCreate())
    let slot = try admin.change(progress: progress) { change throws(KeychainError) in
      let number = try change.freeNumber(for: .device)
      let hasDailyKey = try change.slots().contains(where: \.isDailyKey)
      let slot = try SlotSealing.sealDevice(
        input, number: number, grant: hasDailyKey ? .openTier : .root, keys: change.keys,
        root: change.root.bytes)
      try change.writer.put(slot)
      return slot
    }
    return slot.described(isThisDevice: true)
  }

  /// Returns the secrets whose slots get the new keys of the first passphrase or key file; `nil` if
  /// the vault has one already.
  ///
  /// Everything that would be refused at the end is refused here, before anybody is asked.
  private func carriedSecrets(
    _ admin: VaultAdministration,
    _ askForCode: ((VaultSlot, Int) throws(KeychainError) -> SecretBytes?)?,
    _ isKept: (VaultSlot) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> RekeySecrets? {
    // A device slot that opens everything grants the root key, so there must be a new root key.
    guard admin.head.slots.intact.contains(where: \.isFullDevice) else { return nil }
    var secrets = try RekeySecrets(self, admin)
    if let askForCode {
      try requireCarried(admin, secrets, except: [.recoveryCode, .recipient])
      try secrets.askForCodes(askForCode)
      try requireCarried(admin, secrets, except: [.recipient])
    }
    try secrets.askAboutRecipients(isKept)
    try requireCarried(admin, secrets)
    return secrets
  }

  /// Fails if a slot is left that would not get the new keys.
  ///
  /// If the vault is damaged, fails with that instead.
  private func requireCarried(
    _ admin: VaultAdministration, _ secrets: RekeySecrets, except exempt: Set<SlotKind> = []
  ) throws(KeychainError) {
    do throws(KeychainError) {
      try VaultRekey.requireCarried(admin, secrets, except: exempt)
    } catch {
      // A slot that was changed from outside must not look like one to keep.
      try admin.requireIntact()
      throw error
    }
  }

  private func add(
    _ input: borrowing SlotInput, _ admin: VaultAdministration, _ secrets: RekeySecrets?,
    _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> VaultSlot {
    guard let secrets else { return try addWithoutRekey(input, admin, progress) }
    let slot = try VaultRekey(admin: admin, progress: progress)
      .addFirstSecret(input, keeping: secrets)
    reportGrantChange(hasRecipients: !admin.head.slots(.recipient).isEmpty)
    return slot.described(isThisDevice: nil)
  }

  /// Adds a slot without new keys, if no device slot opens everything.
  private func addWithoutRekey(
    _ input: borrowing SlotInput, _ admin: VaultAdministration,
    _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> VaultSlot {
    let slot = try admin.change(progress: progress) { change throws(KeychainError) in
      // A device slot that opens everything by now would have to be limited.
      guard try !change.slots().contains(where: \.isFullDevice) else { throw .slotsChanged }
      let number = try change.freeNumber(for: input.kind)
      let slot = try SlotSealing.seal(
        input, number: number, grant: .root, granted: change.root.bytes, root: change.root.bytes)
      try change.writer.put(slot)
      return slot
    }
    return slot.described(isThisDevice: nil)
  }

  private func reportGrantChange(hasRecipients: Bool) {
    configuration.notice?(
      Notice(
        kind: .deviceGrantChanged,
        message: "the device key alone now opens only what needs no unlock; "
          + "copies of the vault made before stay as open as they were",
        recovery: hasRecipients
          ? "give the vault's new check to identities that are pinned to it, with "
            + "\(.pinIdentity(check: nil))" : nil))
  }

  /// Opens the root key for a change of slots.
  func administration() throws(KeychainError) -> VaultAdministration {
    let session = try existingSession()
    let head = try session.readHead()
    try head.slots.requireUndamaged()
    let opened = try unlocker.root(head, path: session.opened.path, session.deadline)
    return try VaultAdministration(session: session, head: head, opened: opened)
  }
}
