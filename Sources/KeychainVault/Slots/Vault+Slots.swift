internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Adds a passphrase.
  ///
  /// The first passphrase or key file of a vault changes what the device secret is worth: everything
  /// is sealed anew under a new root key, and the device secret then opens only indexes and the items that
  /// need no unlock. Copies of the vault made before stay as open as they were.
  ///
  /// As every change of slots, this verifies the whole vault first, which takes the longer the more items
  /// there are.
  ///
  /// - Parameters:
  ///   - passphrase: The passphrase, not empty.
  ///   - isKept: Is told the slot of a recipient, and returns whether it gets the new root key; asked
  ///     only where there is to be one, and none does unless this is given. A recipient that does not get
  ///     it must be removed first, with ``removeSlot(_:deletingItems:progress:)``. See
  ///     ``rekey(removing:deletingItems:keeping:asking:keepingRecipient:confirm:progress:)``.
  ///   - progress: Is told now and then how far the verification, or the sealing, has come.
  /// - Returns: The new slot.
  /// - Throws: ``KeychainError``, as every change of slots: with ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if no secret at hand opens the root key (neither cached
  ///   keys nor a device secret of less than everything do), ``KeychainError/Code/refused`` if there are too
  ///   many slots, or slots that cannot be given a new root key, or ``KeychainError/Code/damaged`` if the
  ///   vault is not intact, as where a slot was changed outside it.
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

  /// Adds a passphrase that is asked for last, when nothing keeps the vault from having it.
  ///
  /// - Parameters:
  ///   - askForCode: Is asked for each recovery code that the new keys are to go to; without it, there is
  ///     nobody to ask.
  ///   - isKept: As of ``addPassphraseSlot(_:keepingRecipient:progress:)``.
  ///   - progress: Is told now and then how far the verification, or the sealing, has come.
  ///   - passphrase: Returns the passphrase; a person's pace is no part of the deadline.
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
  /// As with a passphrase, the first one changes what the device secret is worth.
  ///
  /// - Parameters:
  ///   - path: The path of a file of 32 bytes to 64 KiB; all of its bytes count. It is read, not kept,
  ///     and not stretched: a notice (``Notice/Kind/weakKeyFile``) says so of a few readable words.
  ///   - isKept: As of ``addPassphraseSlot(_:keepingRecipient:progress:)``.
  ///   - progress: Is told now and then how far the verification, or the sealing, has come.
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

  /// Adds a key file, and asks for each recovery code that the new keys are to go to.
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
    tellIfWeak(contents, path)
    let secrets = try carriedSecrets(admin, askForCode, isKept)
    return try add(try SlotInput.keyFile(contents), admin, secrets, progress)
  }

  /// Adds this machine's device secret.
  ///
  /// It opens indexes and the items that need no unlock. In a vault that has neither passphrase, key file
  /// nor recipient it opens everything, as that of the machine which made the vault: so a vault whose
  /// device secret was lost works as before, once it was opened by a recovery code.
  ///
  /// - Parameter progress: Is told now and then how far the verification has come.
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

  /// The secrets whose slots get the new keys of the first passphrase or key file; `nil` if the vault has one.
  ///
  /// What would be refused at the end is refused before anybody is asked for anything.
  private func carriedSecrets(
    _ admin: VaultAdministration,
    _ askForCode: ((VaultSlot, Int) throws(KeychainError) -> SecretBytes?)?,
    _ isKept: (VaultSlot) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> RekeySecrets? {
    // A device secret that opens everything knows the root key, so there must be a new one.
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

  /// Fails if a slot is left that would not get the new keys; with what is wrong with the vault, if anything is.
  private func requireCarried(
    _ admin: VaultAdministration, _ secrets: RekeySecrets, except exempt: Set<SlotKind> = []
  ) throws(KeychainError) {
    do throws(KeychainError) {
      try VaultRekey.requireCarried(admin, secrets, except: exempt)
    } catch {
      // A slot that somebody changed from outside must not look like one to be kept.
      try admin.requireIntact()
      throw error
    }
  }

  private func add(
    _ input: borrowing SlotInput, _ admin: VaultAdministration, _ secrets: RekeySecrets?,
    _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> VaultSlot {
    guard let secrets else { return try addBeside(input, admin, progress) }
    let slot = try VaultRekey(admin: admin, progress: progress)
      .addFirstSecret(input, keeping: secrets)
    tellGrantChange(hasRecipients: !admin.head.slots(.recipient).isEmpty)
    return slot.described(isThisDevice: nil)
  }

  /// Adds a slot where no device secret opens everything.
  private func addBeside(
    _ input: borrowing SlotInput, _ admin: VaultAdministration,
    _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> VaultSlot {
    let slot = try admin.change(progress: progress) { change throws(KeychainError) in
      // One that opens everything by now would have to be cut.
      guard try !change.slots().contains(where: \.isFullDevice) else { throw .slotsChanged }
      let number = try change.freeNumber(for: input.kind)
      let slot = try SlotSealing.seal(
        input, number: number, grant: .root, granted: change.root.bytes, root: change.root.bytes)
      try change.writer.put(slot)
      return slot
    }
    return slot.described(isThisDevice: nil)
  }

  private func tellGrantChange(hasRecipients: Bool) {
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
