internal import KeychainCredentials
public import KeychainSecrets
public import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

extension Vault {
  /// Creates the vault.
  ///
  /// At least one way to open it must be given. With a passphrase, key file or recipient, the
  /// device secret opens only indexes and items that need no unlock. Without them, it opens
  /// everything.
  ///
  /// - Parameters:
  ///   - passphrase: The passphrase, not empty; `nil` for none.
  ///   - keyFile: The path of an existing key file; `nil` for none.
  ///   - identityFile: The path of an identity file whose recipient gets a slot; `nil` for none.
  ///   - device: Whether this machine's device secret opens the vault.
  ///   - startingAnew: Whether an empty vault may replace one that was seen here and is missing.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if there is a vault,
  ///   ``KeychainError/Code/noStore`` if there was one and `startingAnew` is `false`,
  ///   ``KeychainError/Code/refused`` for an empty passphrase, an identity that is pinned to other
  ///   vaults, or an empty file in the place of the vault, or
  ///   ``KeychainError/Code/invalidArgument`` if no way to open it is given.
  public func create(
    passphrase: borrowing SecretBytes?, keyFile: String?, identityFile: String? = nil,
    device: Bool, startingAnew: Bool = false
  ) throws(KeychainError) {
    try requireNoVault(startingAnew: startingAnew)
    var slots = NewSlots(device: device)
    if let identityFile {
      slots.recipient = try identity(
        configuration.present(.identityFile(identityFile, named: "the identity file"))
      ).recipient
    }
    switch passphrase {
    case .some(let passphrase): slots.inputs.append(try slotInput(passphrase: passphrase))
    case .none: break
    }
    if let keyFile {
      let contents = try KeyFile.read(
        keyFile, name: "the key file", policy: configuration.secretFilePolicy)
      slots.inputs.append(try slotInput(keyFile: contents, keyFile, name: keyFile))
    }
    guard try create(slots) else { throw .madeMeanwhile(try path()) }
  }

  /// Creates the vault as the first write does: with a slot for the available unlocking secret, or
  /// else with the device slot alone.
  ///
  /// It asks nothing, and sends no notice about the new vault.
  ///
  /// - Parameter startingAnew: Whether an empty vault may replace one that was seen here and is
  ///   missing.
  /// - Throws: As ``create(passphrase:keyFile:identityFile:device:startingAnew:)``, and
  ///   ``KeychainError/Code/refused`` if the available secret is a recovery code, or an identity
  ///   that is pinned to other vaults.
  public func create(startingAnew: Bool) throws(KeychainError) {
    try requireNoVault(startingAnew: startingAnew)
    guard try create(slotsOfSourcesAtHand()) else { throw .madeMeanwhile(try path()) }
  }

  /// Creates a vault that several members share.
  ///
  /// Identities open it, and one recovery code. Each member may administer, read and write, or only
  /// read; members sign what they write. No passphrase, key file or device secret opens it, and it
  /// has no items that are bound to a device.
  ///
  /// - Parameters:
  ///   - identityFile: The path of the identity file of the first member, who administers the
  ///     vault.
  ///   - name: The member's name for people: at most 256 bytes of UTF-8, which the vault encrypts.
  ///   - startingAnew: Whether an empty vault may replace one that was seen here and is missing.
  ///   - confirm: Receives the recovery code, shows it, and returns whether it was written down.
  /// - Throws: As ``create(passphrase:keyFile:identityFile:device:startingAnew:)``;
  ///   ``KeychainError`` with ``KeychainError/Code/cancelled`` if `confirm` returns `false`, or
  ///   what it throws. Nothing is created then.
  public func createShared(
    identityFile: String, name: String = "", startingAnew: Bool = false,
    confirmingCode confirm: (borrowing RecoveryCode) throws(KeychainError) -> Bool
  ) throws(KeychainError) {
    try Member.check(name: name)
    try requireNoVault(startingAnew: startingAnew)
    let identity = try identity(
      configuration.present(.identityFile(identityFile, named: "the identity file")))
    let code = try Self.confirmedCode(confirm)
    let epoch = try VaultEpoch(signer: identity.keys.signer(1))
    let slots = [
      try epoch.seal(to: identity.recipient, number: 1, name: name),
      try epoch.seal(code, number: 2),
    ]
    guard try create(epoch, kind: .shared, slots, hasDeviceSlot: false) else {
      throw .madeMeanwhile(try path())
    }
  }

  /// Creates a recovery code that a person confirms.
  static func confirmedCode(
    _ confirm: (borrowing RecoveryCode) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> SlotInput {
    let code = try RecoveryCode.random()
    guard try confirm(code) else {
      throw KeychainError(.cancelled, "the recovery code was not confirmed; nothing was changed")
    }
    return try SlotInput.recoveryCode(code)
  }

  func createForFirstWrite() throws(KeychainError) {
    try requireNamedFolder()
    try requireNoEmptyFile()
    let slots = try slotsOfSourcesAtHand()
    guard try create(slots) else { return }
    reportCreation(of: try path(), hasDailyKey: slots.hasDailyKey)
  }

  /// Fails if the vault is named in a missing folder: its volume may not be mounted, or the name
  /// may be mistyped, and nobody would find the new vault.
  private func requireNamedFolder() throws(KeychainError) {
    let isNamed = configuration.path == nil && configuration.environment.isSet("KEYCHAIN_VAULT")
    guard isNamed || !configuration.makesFolder, let absence = try absence(), !absence.hasFolder
    else { return }
    throw KeychainError(
      .noStore,
      "the vault '\(absence.path)' does not exist, nor does its folder '\(absence.folder)'",
      recovery: "check the path of the vault, or mount its volume, or " + .createVault)
  }

  /// Returns the slots of the device and of the presented secret.
  private func slotsOfSourcesAtHand() throws(KeychainError) -> NewSlots {
    var slots = NewSlots(device: true)
    guard let presented = try configuration.presentFirst() else { return slots }
    switch presented.kind {
    case .keyFile:
      slots.inputs.append(
        try slotInput(keyFile: presented.secret, presented.path, name: presented.source))
    case .recipient: slots.recipient = try identity(presented).recipient
    case .recoveryCode:
      throw KeychainError(
        .refused,
        "there is no vault yet, and the recovery code from \(presented.source) can only open one",
        recovery: .createVault)
    default: slots.inputs.append(try slotInput(passphrase: presented.secret))
    }
    return slots
  }

  /// Returns the identity for a new vault.
  private func identity(
    _ presented: borrowing PresentedSecret
  ) throws(KeychainError) -> VaultIdentity {
    // Pins name other vaults, so the identity would not open the new one.
    guard presented.pins.isEmpty else {
      throw KeychainError(
        .refused,
        "there is no vault yet, and the identity from \(presented.source) is pinned to others, "
          + "so it would not open a new one",
        recovery: .createVault + ", then add the recipient with \(.addSlot(.identity)) and pin the "
          + "identity with \(.pinIdentity(check: nil))")
    }
    if let path = presented.path { try SecretFile.sync(path) }
    return try VaultIdentity(seed: presented.secret.copy())
  }

  /// Prepares a slot of a key file, durably.
  func slotInput(
    keyFile contents: borrowing SecretBytes, _ path: String?, name: String
  ) throws(KeychainError) -> SlotInput {
    if let path { try SecretFile.sync(path) }
    if KeyFileText.isGuessable(contents) {
      configuration.report(
        .weakKeyFile,
        "the key file \(name) holds a few readable words, which anyone who has the vault can "
          + "guess fast, because key files are not stretched as passphrases are",
        recovery: "use a file of random bytes, which \(.addSlot(.keyFile)) makes")
    }
    return try SlotInput.keyFile(contents)
  }

  /// Anybody who has the file can quickly try all shorter passphrases.
  package static let usualPassphraseCount = 10

  /// Prepares a passphrase slot at the cost that the policy sets.
  func slotInput(passphrase: borrowing SecretBytes) throws(KeychainError) -> SlotInput {
    guard passphrase.count > 0 else { throw .emptyPassphrase }
    if passphrase.count < Self.usualPassphraseCount {
      configuration.report(
        .weakPassphrase,
        "the new passphrase is short, and anyone who gets the vault can try many",
        recovery: "take a longer one, such as six words chosen at random")
    }
    if let oddity = passphrase.oddity {
      configuration.report(
        .oddPassphrase,
        "the new passphrase \(oddity), which has to be given the same way each time")
    }
    let parameters = try passwordHashForNewPassphrase()
    let lock = try unlocker.passwordHashLock(.passphrase, configuration.deadlineOfCall())
    defer { extendLifetime(lock) }
    return try SlotInput.passphrase(passphrase, parameters)
  }

  /// Returns the cost that the policy sets for a new passphrase.
  func passwordHashForNewPassphrase() throws(KeychainError) -> PasswordHash.Parameters {
    let parameters =
      if let parameters = configuration.passwordHash { parameters } else {
        try PasswordHashPolicy.parametersForNewSlot()
      }
    if parameters == .interactive {
      configuration.report(
        .weakPasswordHash,
        "memory is short: the passphrase is hashed with 64 MiB instead of 256 MiB, which makes "
          + "guessing it cheaper")
    }
    return parameters
  }

  private func requireNoVault(startingAnew: Bool) throws(KeychainError) {
    do throws(KeychainError) {
      guard try session() == nil else {
        throw KeychainError(
          .alreadyExists, "there is a vault at \(try path())", recovery: .showOrAddSlot)
      }
    } catch { guard error.code == .noStore, startingAnew else { throw error } }
    try requireNoEmptyFile()
  }

  /// Fails if an empty file is in the vault's place: a shell may have created it, to restore a
  /// copy.
  private func requireNoEmptyFile() throws(KeychainError) {
    let path = try file.path().path
    guard let found = try file.disk.status(at: path), found.isRegular, found.size == 0 else {
      return
    }
    throw KeychainError(
      .refused,
      "an empty file is in the place of the vault \(path); another program may be writing it",
      recovery: "wait until it is whole, or remove it")
  }

  /// Creates the vault with its slots; `false` if another process was faster.
  private func create(_ slots: NewSlots) throws(KeychainError) -> Bool {
    guard slots.hasDailyKey || slots.device else {
      throw KeychainError(
        .invalidArgument, "a vault needs a way to open it",
        recovery: "give a passphrase, a key file, an identity or the device")
    }
    var inputs = slots.inputs
    if slots.device {
      inputs.insert(try SlotInput.device(unlocker.state.findOrCreateSecret()), at: 0)
    }
    let epoch = try VaultEpoch(signer: nil)
    var sealed = try zip(UInt32(1)..., inputs).map { number, input throws(KeychainError) in
      // The device slot opens everything only if nothing else does.
      let isLimited = input.kind == .device && slots.hasDailyKey
      return try epoch.seal(input, number: number, grant: isLimited ? .openTier : .administers)
    }
    if let recipient = slots.recipient {
      sealed.append(try epoch.seal(to: recipient, number: UInt32(sealed.count + 1)))
    }
    return try create(epoch, kind: .local, sealed, hasDeviceSlot: slots.device)
  }

  /// Creates the vault of a first epoch; `false` if another process was faster.
  private func create(
    _ epoch: VaultEpoch, kind: VaultKind, _ slots: [ListedSlot], hasDeviceSlot: Bool
  ) throws(KeychainError) -> Bool {
    let path = try file.path()
    let records = try file.records()
    let seen = try records.read()
    try translated(PrivateFile.makeFolder(path.folder))
    let unfinished = try UnfinishedVault(
      for: path.path, on: file.disk, like: nil, until: configuration.deadlineOfCall())
    try requireNoEmptyFile()
    guard try file.disk.status(at: path.path) == nil else { return false }
    let base = try NewBase(epoch, kind: kind, slots)
    let made = try base.write(to: unfinished.file, path: path.path)
    do throws(WriteFailure) {
      try unfinished.takeName(replacing: nil).unlock()
    } catch {
      guard error != .unchanged(.fileExists) else { return false }
      throw .writing(path.path, error)
    }
    reportPlaceInMemory(path.path, hasDeviceSlot: hasDeviceSlot)
    // Nothing else would find the cached keys of the earlier vault.
    unlocker.lock(Set(seen.records.map(\.id)), all: true)
    do throws(KeychainError) {
      try records.replace(by: made.record(epoch.keys), lettingGo: seen)
    } catch {
      configuration.report(
        .seenRecordUnavailable, "a rollback of the vault could go unnoticed: \(error.message)")
    }
    return true
  }
}

private struct NewSlots {
  /// The slots of a passphrase and of a key file.
  var inputs: [SlotInput] = []
  var recipient: VaultRecipient?
  let device: Bool

  init(device: Bool) { self.device = device }

  var hasDailyKey: Bool { !inputs.isEmpty || recipient != nil }
}

// MARK: - Notices

extension Vault {
  /// Reports that the first write created a vault.
  private func reportCreation(of path: String, hasDailyKey: Bool) {
    guard !hasDailyKey else {
      return configuration.report(
        .vaultCreated,
        "created the vault \(path); the given passphrase, key file or identity opens it")
    }
    configuration.report(
      .vaultCreated,
      "created the vault \(path); this machine's device key opens it, without a passphrase",
      recovery: addingForService
        ?? "\(.addSlot(.passphrase)) protects it from anyone who has the disk, and "
        + "\(.addSlot(.recoveryCode)) from the loss of device.key")
  }

  /// Says how to add another key, for a service or script that may have meant to give one.
  private var addingForService: KeychainError.Recovery? {
    let adding: KeychainError.Recovery = "\(.addSlotForService) adds it"
    if let folder = configuration.emptyCredentialsFolder {
      return "\(folder) holds neither keychain.passphrase nor keychain.key: if one was meant to "
        + "open the vault, " + adding
    }
    // A person at a terminal did not mean to give a file.
    guard case .denied = configuration.interaction else { return nil }
    return "if a passphrase or key file was meant to open it, " + adding
  }

  /// Reports a vault or device key in memory, unless its place was chosen explicitly.
  private func reportPlaceInMemory(_ path: String, hasDeviceSlot: Bool) {
    var places = file.isNamed ? [] : [("the vault", path)]
    if hasDeviceSlot, !file.isStateNamed, let path = unlocker.state.pathOfSecret {
      places.append(("the device key", path))
    }
    for (what, path) in places {
      let kind = FileSystemKind(of: path)
      guard kind.isInMemory, let name = kind.name else { continue }
      return configuration.report(
        .vaultInMemory,
        "\(what) \(path) lies in memory (\(name)), for example below ProtectHome=tmpfs of a "
          + "service, and is gone when the service or the machine stops; for one that stays, use "
          + "StateDirectory= in the unit, or set KEYCHAIN_VAULT and XDG_STATE_HOME")
    }
  }
}

extension KeychainError {
  package static let emptyPassphrase = emptyPassphrase(
    recovery: "choose one, or none: a vault without any is protected by the device key only")

  package static let emptyExportPassphrase = emptyPassphrase(recovery: "choose one for the export")

  private static func emptyPassphrase(recovery: Recovery) -> Self {
    Self(.refused, "an empty passphrase protects nothing", recovery: recovery)
  }

  fileprivate static func madeMeanwhile(_ path: String) -> Self {
    Self(.alreadyExists, "another process made the vault \(path) meanwhile")
  }
}
