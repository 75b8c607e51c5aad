internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

extension Vault {
  /// Creates the vault.
  ///
  /// At least one way to open it must be given. With a passphrase, key file or recipient, the
  /// device secret opens only indexes and items that need no unlock. Without them, it opens
  /// everything.
  ///
  /// - Parameters:
  ///   - passphrase: The passphrase, not empty; `nil` to use none.
  ///   - keyFile: The path of an existing key file; `nil` to use none.
  ///   - identityFile: The path of an identity file whose recipient gets a slot; `nil` to use none.
  ///   - device: Whether this machine's device secret opens the vault.
  ///   - startingAnew: Whether an empty vault may replace one that was seen here and is gone.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if there is a vault,
  ///   ``KeychainError/Code/noStore`` if there was one and `startingAnew` is `false`,
  ///   ``KeychainError/Code/refused`` for an empty passphrase or an identity that is pinned to
  ///   other vaults, or ``KeychainError/Code/invalidArgument`` if no way to open it is given.
  public func create(
    passphrase: borrowing SecretBytes?, keyFile: String?, identityFile: String? = nil,
    device: Bool, startingAnew: Bool = false
  ) throws(KeychainError) {
    try requireNoVault(startingAnew: startingAnew)
    var inputs = NewSlots()
    inputs.device = device
    if let identityFile {
      inputs.recipient = try recipient(
        unlocker.sources.present(.identityFile(identityFile, named: "the identity file")))
    }
    switch passphrase {
    case .some(let passphrase): inputs.passphrase = try slotInput(passphrase: passphrase)
    case .none: break
    }
    if let keyFile {
      let contents = try KeyFile.read(
        keyFile, name: "the key file", policy: configuration.secretFilePolicy)
      reportIfWeak(contents, keyFile)
      inputs.keyFile = try SlotInput.keyFile(contents)
      try SecretFile.sync(keyFile)
    }
    guard try create(inputs) else {
      throw .madeMeanwhile(try path())
    }
  }

  /// Creates the vault as the first write does: with a slot for the unlocking secret at hand, or
  /// else with the device slot alone.
  ///
  /// It asks nothing, and sends no notice about the new vault.
  ///
  /// - Parameter startingAnew: Whether an empty vault may replace one that was seen here and is
  ///   gone.
  /// - Throws: As ``create(passphrase:keyFile:identityFile:device:startingAnew:)``, and
  ///   ``KeychainError/Code/refused`` if the secret at hand is a recovery code, or an identity that
  ///   is pinned to other vaults.
  public func create(startingAnew: Bool) throws(KeychainError) {
    try requireNoVault(startingAnew: startingAnew)
    guard try create(slotsOfSourcesAtHand()) else { throw .madeMeanwhile(try path()) }
  }

  /// Whether a secret that unlocks is at hand, from an explicit source or the environment.
  public var hasUnlockSource: Bool { unlocker.hasUnattendedSource }

  func createForFirstWrite() throws(KeychainError) {
    let inputs = try slotsOfSourcesAtHand()
    let hasDailyKey = inputs.hasDailyKey
    guard try create(inputs) else { return }
    reportCreation(of: try path(), hasDailyKey: hasDailyKey)
  }

  /// Returns the slots of the device and of the secret that is presented.
  private func slotsOfSourcesAtHand() throws(KeychainError) -> NewSlots {
    var inputs = NewSlots()
    inputs.device = true
    if let presented = try presentForNewVault() {
      switch presented.kind {
      case .keyFile:
        if let path = presented.path { try SecretFile.sync(path) }
        reportIfWeak(presented.secret, presented.source)
        inputs.keyFile = try SlotInput.keyFile(presented.secret)
      case .recipient: inputs.recipient = try recipient(presented)
      case .recoveryCode: throw .codeMakesNoVault(presented.source)
      default: inputs.passphrase = try slotInput(passphrase: presented.secret)
      }
    }
    return inputs
  }

  private func presentForNewVault() throws(KeychainError) -> PresentedSecret? {
    if let source = configuration.unlock { return try unlocker.sources.present(source) }
    return try unlocker.sources.presentAmbient()
  }

  /// Returns the recipient of an identity with which a new vault is created.
  private func recipient(
    _ presented: borrowing PresentedSecret
  ) throws(KeychainError) -> VaultRecipient {
    try identity(presented).recipient
  }

  /// Returns an identity with which a new vault is created.
  func identity(
    _ presented: borrowing PresentedSecret
  ) throws(KeychainError) -> VaultIdentity {
    // Pins name other vaults, so the identity would not open the new one.
    guard presented.pins.isEmpty else { throw .pinnedElsewhere(presented.source) }
    if let path = presented.path { try SecretFile.sync(path) }
    return try VaultIdentity(seed: SharedSecret(copying: presented.secret).copy())
  }

  /// Prepares a passphrase slot at the cost that the policy sets.
  func slotInput(passphrase: borrowing SecretBytes) throws(KeychainError) -> SlotInput {
    guard passphrase.count > 0 else { throw .emptyPassphrase }
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
      configuration.notice?(
        Notice(
          kind: .weakPasswordHash,
          message: "memory is short: the passphrase is hashed with 64 MiB instead of 256 MiB, "
            + "which makes guessing it cheaper"))
    }
    return parameters
  }

  func requireNoVault(startingAnew: Bool) throws(KeychainError) {
    do throws(KeychainError) {
      guard try session() == nil else {
        throw KeychainError(
          .alreadyExists, "there is a vault at \(try path())",
          recovery: .showOrAddSlot)
      }
    } catch {
      guard error.code == .noStore, startingAnew else { throw error }
    }
  }

  /// Creates the vault with its slots.
  ///
  /// Returns `false` if another process was faster.
  private func create(_ inputs: consuming NewSlots) throws(KeychainError) -> Bool {
    guard inputs.hasDailyKey || inputs.device else {
      throw KeychainError(
        .invalidArgument, "a vault needs a way to open it",
        recovery: "give a passphrase, a key file, an identity or the device")
    }
    if inputs.device {
      inputs.deviceInput = try SlotInput.device(try unlocker.device.findOrCreate())
    }
    let epoch = try VaultEpoch(signer: nil)
    return try create(epoch, kind: .local, try inputs.sealed(epoch), hasDeviceSlot: inputs.device)
  }

  /// Creates the vault of a first epoch with its slots.
  ///
  /// Returns `false` if another process was faster.
  func create(
    _ epoch: VaultEpoch, kind: VaultKind, _ slots: [ListedSlot], hasDeviceSlot: Bool
  ) throws(KeychainError) -> Bool {
    let path = try file.path()
    let seenFile = try file.seenFile()
    let seen = seenFile.read().record
    try translated(PrivateFile.makeFolder(path.folder))
    let unfinished = try UnfinishedVault(
      for: path.path, on: file.disk, like: nil, until: configuration.deadlineOfCall())
    // Who makes a vault holds the lock of the unfinished one, so an empty file is nobody's.
    let found = try file.disk.status(at: path.path)
    guard found.map({ $0.size == 0 }) ?? true else { return false }
    let base = try NewBase(epoch, kind: kind, slots)
    let head = try BaseWriter.write(base, to: unfinished.file, path: path.path)
    let made = try VaultContents(
      reading: unfinished.file, size: unfinished.file.status(of: path.path).size, path: path.path,
      head: head, list: file.list(head, epoch.keys.open), keys: epoch.keys, seen: nil)
    do throws(WriteFailure) {
      let lock = try unfinished.takeName(replacing: found != nil)
      lock.unlock()
    } catch {
      guard error != .unchanged(.fileExists) else { return false }
      throw .writing(path.path, error)
    }
    reportPlaceInMemory(path.path, hasDeviceSlot: hasDeviceSlot)
    unlocker.forgetCachedKeys(of: seen)
    do throws(KeychainError) {
      try seenFile.replace(by: made.record(epoch.keys), lettingGo: seen)
    } catch {
      configuration.notice?(
        Notice(
          kind: .seenRecordUnavailable,
          message: "a rollback of the vault could go unnoticed: \(error.message)"))
    }
    return true
  }
}

/// The slots that a new vault gets.
private struct NewSlots: ~Copyable {
  var passphrase: SlotInput?
  var keyFile: SlotInput?
  var device = false
  var deviceInput: SlotInput?
  var recipient: VaultRecipient?

  var hasDailyKey: Bool { passphrase != nil || keyFile != nil || recipient != nil }

  /// Seals the slots.
  ///
  /// The device slot opens everything only if nothing else does.
  borrowing func sealed(_ epoch: VaultEpoch) throws(KeychainError) -> [ListedSlot] {
    var slots: [ListedSlot] = []
    var number: UInt32 { UInt32(slots.count + 1) }
    switch deviceInput {
    case .some(let input):
      slots.append(
        try epoch.seal(input, number: number, grant: hasDailyKey ? .openTier : .administers))
    case .none: break
    }
    switch passphrase {
    case .some(let input): slots.append(try epoch.seal(input, number: number))
    case .none: break
    }
    switch keyFile {
    case .some(let input): slots.append(try epoch.seal(input, number: number))
    case .none: break
    }
    if let recipient { slots.append(try epoch.seal(to: recipient, number: number)) }
    return slots
  }
}

extension KeychainError {
  fileprivate static func codeMakesNoVault(_ source: String) -> Self {
    Self(
      .refused, "there is no vault yet, and the recovery code from \(source) can only open one",
      recovery: .createVault)
  }

  fileprivate static func pinnedElsewhere(_ source: String) -> Self {
    Self(
      .refused,
      "there is no vault yet, and the identity from \(source) is pinned to others, "
        + "so it would not open a new one",
      recovery: .createVault + ", then add the recipient with \(.addSlot(.identity)) and pin the "
        + "identity with \(.pinIdentity(check: nil))")
  }

  static func madeMeanwhile(_ path: String) -> Self {
    Self(.alreadyExists, "another process made the vault \(path) meanwhile")
  }
}
