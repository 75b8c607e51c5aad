internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// Finds the keys of a vault: those of this handle, then by the explicit source alone, or else by
/// the device secret, the kernel's cache, the first ambient source, and a person.
final class Unlocker: Sendable {
  let configuration: VaultConfiguration
  let cache: UnlockCache
  let state: StateFolder
  let file: VaultFile
  let held: HeldKeys
  let knownOwnSlot = PosixMutex<OwnSlot?>(nil)

  /// Locked while a person is asked.
  let asking = PosixMutex()

  init(_ configuration: VaultConfiguration, _ state: StateFolder, _ file: VaultFile) {
    self.configuration = configuration
    cache = UnlockCache(idleTime: configuration.idleTime)
    self.state = state
    self.file = file
    held = HeldKeys(idleTime: configuration.idleTime)
  }

  /// Returns the keys that an operation needs, and unlocks as far as `requirement` demands.
  func keys(
    _ requirement: Accessibility.UnlockRequirement, _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys {
    var driver = UnlockDriver(self, .keys(requirement), vault, deadline)
    guard try driver.run(), let keys = driver.keys else {
      throw lockedError(vault, needsSecret: false)
    }
    return keys
  }

  /// Returns the keys that are available without any work, if they are enough.
  func keysAtHand(
    _ requirement: Accessibility.UnlockRequirement, _ head: VaultHead
  ) throws(KeychainError) -> TierKeys? {
    if let keys = held.keys(for: head) { return keys }
    // An explicit source is used alone.
    guard configuration.unlock == nil else { return nil }
    let own = try ownSlot(of: head)?.keys
    if let own, own.readable == .unlockedNow { return own }
    let open: SharedSecret? = if let own { own.open } else { try cache.key(.open, of: head) }
    guard let open else { return nil }
    let keys = TierKeys(
      binding: head.binding, checks: head.parts.checks, open: open,
      first: try cache.key(.first, of: head),
      unlocked: try cache.key(.unlocked, of: head))
    return keys.satisfies(requirement) ? keys : nil
  }

  /// Returns keys for looking at the vault without a question, if there are any.
  ///
  /// In a shared vault, they are those of a given identity, and are not kept, because looking must
  /// not unlock the vault.
  func keysToLook(
    _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys? {
    if let keys = try keysAtHand(.nothing, vault.head) { return keys }
    // Opening the vault reports what is wrong with the identity.
    guard let source = try? configuration.firstSource,
      case .identityFile(let file) = source.kind,
      // A pipe can be read only once, and may block its readers.
      (try? Stat(FilePath(file)))?.type == .regular,
      let presented = try? configuration.present(source)
    else { return nil }
    return (try? open(presented, vault, deadline))?.keys
  }

  /// Extends the idle time after a use of tier T2.
  func touch(_ head: VaultHead) {
    // A vault that the device key opens is never locked, and its keys are not from the cache.
    let own = knownOwnSlot.withLock { $0 }
    if let own, own.keys.readable == .unlockedNow, head.owns(own.keys) { return }
    held.touch()
    cache.touch(head)
  }

  /// Forgets the keys of vaults; `true` if none is left.
  @discardableResult
  func lock(_ vaults: Set<VaultID>, all: Bool) -> Bool {
    held.forget()
    let tiers = all ? Tier.allCases : [.unlocked]
    // Every key is removed before a failure counts.
    let gone = vaults.flatMap { vault in tiers.map { cache.forget($0, of: vault) } }
    return gone.allSatisfy(\.self)
  }

  // MARK: - Keys of a member, which the cache does not have

  /// Returns keys that sign in a shared vault; the cache has none, so a secret is presented again.
  func signingKeys(
    _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys {
    let opened = try member(vault, deadline)
    guard opened.keys.signer != nil else {
      throw KeychainError(
        .refused, "\(opened.member.called) reads this shared vault, and may not write to it",
        recovery: "ask a member that administers it for a slot that reads and writes, with "
          + "\(.addSlot(.identity))")
    }
    if configuration.unlock != nil { held.hold(opened.keys) }
    return opened.keys
  }

  /// Whether the available identity is pinned to a check, which a person has compared.
  func isPinned(to check: VaultCheck) throws(KeychainError) -> Bool {
    guard let source = try configuration.firstSource, case .identityFile = source.kind else {
      return false
    }
    return try configuration.present(source).pins.contains(check)
  }

  /// Opens the vault with a secret that is presented now, or with a device slot that administers.
  ///
  /// If there is none, the error says what to give, or how to unlock if that is enough.
  func member(
    _ vault: VaultFile.Opened, _ deadline: Deadline, needsSecret: Bool = true
  ) throws(KeychainError) -> OpenedSlot {
    var driver = UnlockDriver(self, .slot, vault, deadline)
    guard try driver.run(), let slot = driver.slot else {
      throw lockedError(vault, needsSecret: needsSecret)
    }
    return slot
  }
}

extension Member {
  static func check(name: String) throws(KeychainError) {
    guard name.utf8.count <= maximumNameCount else {
      throw KeychainError(
        .invalidArgument, "the name of a slot has at most \(maximumNameCount) bytes")
    }
  }

  /// The slot in messages, such as "slot 3 (alice)".
  var called: String { name.isEmpty ? "slot \(number)" : "slot \(number) (\(name))" }
}

extension Unlocker {
  /// Opens the vault with a presented secret.
  func open(
    _ presented: borrowing PresentedSecret, _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> OpenedSlot {
    let lock = try passwordHashLock(presented.kind, deadline)
    defer { extendLifetime(lock) }
    return try openHoldingLock(presented, vault, deadline)
  }

  /// Reads the first source; an explicit one may ask a person; `nil` if there is none.
  func present(_ deadline: Deadline) throws(KeychainError) -> PresentedSecret? {
    guard configuration.unlock != nil else { return try configuration.presentFirst() }
    return try deadline.excluding { () throws(KeychainError) in try configuration.presentFirst() }
  }

  /// Takes the lock that allows each user one password hash at a time, to limit memory; `nil` if it
  /// is not available.
  func passwordHashLock(_ kind: SlotKind, _ deadline: Deadline) throws(KeychainError) -> FileLock? {
    guard kind == .passphrase, let folder = try? state.make() else { return nil }
    do throws(FileError) {
      return try FileLock(exclusive: folder + "/kdf.lock", deadline: deadline)
    } catch {
      guard error.kind == .timedOut else { return nil }
      throw KeychainError(error)
    }
  }

  func openHoldingLock(
    _ presented: borrowing PresentedSecret, _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> OpenedSlot {
    let (kind, source) = (presented.kind, presented.source)
    let (head, path) = (vault.head, vault.path)
    let slots = head.slots(of: kind)
    let opened =
      kind == .recipient
      ? try openAsRecipient(presented, slots, vault)
      : try open(presented, slots, vault, deadline)
    if let opened { return opened }
    try head.requireWellFormed(kind, path: path)
    if kind == .recipient {
      throw KeychainError(
        .incorrectSecret, "the vault \(path) has no slot for the identity from \(source)",
        recovery: .listWhatOpens)
    }
    guard slots.isEmpty else {
      let oddity = kind == .passphrase ? presented.secret.oddity : nil
      let hints: [KeychainError.Recovery?] = [
        oddity.map { "what was given \($0), which counts" },
        Self.ways(head, but: kind).map { "if it is lost: " + $0 },
      ]
      let recovery = hints.compactMap(\.self)
      throw KeychainError(
        .incorrectSecret, "the \(kind) from \(source) does not open the vault \(path)",
        recovery: recovery.isEmpty ? nil : recovery.joined(separator: "; "))
    }
    throw KeychainError(
      .incorrectSecret, "\(source) gives a \(kind), and the vault \(path) has no such slot",
      recovery: .listWhatOpens)
  }

  private func open(
    _ presented: borrowing PresentedSecret, _ slots: [SlotRow], _ vault: VaultFile.Opened,
    _ deadline: Deadline
  ) throws(KeychainError) -> OpenedSlot? {
    var tried = 0
    return try open(slots, of: vault.head) { slot throws(KeychainError) -> SharedSecret in
      guard tried == 0 || !deadline.hasPassed else {
        throw KeychainError(
          .timedOut,
          "\(slots.count - tried) slots of the vault \(vault.path) could not be tried in time",
          recovery: "try again with a longer deadline")
      }
      tried += 1
      return SharedSecret(try inputKey(of: presented, for: slot))
    }
  }

  private func inputKey(
    of presented: borrowing PresentedSecret, for slot: SlotRow
  ) throws(KeychainError) -> SecretBytes {
    switch slot.kind {
    case .passphrase:
      guard let parameters = PasswordHash.Parameters(encoded: slot.parameters) else {
        throw .damagedSlot(slot.number)
      }
      try PasswordHashPolicy.requireMemory(for: parameters)
      return try SlotSealing.passphraseKey(
        presented.secret, salt: slot.salt, parameters: parameters)
    case .keyFile: return try KeyFile.inputKey(presented.secret)
    default: return try presented.secret.copy()
    }
  }

  private func openAsRecipient(
    _ presented: borrowing PresentedSecret, _ slots: [SlotRow], _ vault: VaultFile.Opened
  ) throws(KeychainError) -> OpenedSlot? {
    let head = vault.head
    let isVouchedFor = try file.vouches(for: head)
    if isVouchedFor { try reportOldPins(of: presented, head) }
    // Every slot that opens requires a check that a person compared.
    if !isVouchedFor, configuration.comparedCheck == nil { try checkPins(of: presented, vault) }
    let identity = try VaultIdentity(seed: presented.secret.copy())
    var opened = try open(slots, of: head) { slot throws(KeychainError) in
      try SlotSealing.open(slot, identity: identity, vault: head.id).map { ($0, nil) }
    }
    if let path = presented.path, !presented.pins.isEmpty {
      opened?.pinnedFile = (path, presented.source, configuration.secretFilePolicy)
    }
    return opened
  }

  /// Reports that an identity is still pinned to an earlier check of a vault that is vouched for.
  ///
  /// It opens the vault. Without the record, it would also open a vault of a former administrator.
  private func reportOldPins(
    of presented: borrowing PresentedSecret, _ head: VaultHead
  ) throws(KeychainError) {
    let (check, pins) = (try head.check(), presented.pins)
    guard !pins.isEmpty, !pins.contains(check) else { return }
    guard try head.hadCheck(among: pins) else { return }
    configuration.report(
      .oldPin,
      "the identity from \(presented.source) is pinned to an earlier check of the vault, which is "
        + "\(check) now",
      recovery: "pin it with \(.pinIdentity(check: "\(check)"))")
  }

  /// Checks the pins if nothing vouches for the vault: a writer of the file can seal keys of
  /// another vault to the identity.
  private func checkPins(
    of presented: borrowing PresentedSecret, _ vault: VaultFile.Opened
  ) throws(KeychainError) {
    let (head, path) = (vault.head, vault.path)
    let check = try head.check()
    guard !presented.pins.isEmpty else {
      return configuration.report(
        .firstSight,
        "the vault \(path) is seen here for the first time, and the identity is not pinned to any "
          + "vault",
        recovery:
          "compare its check, \("\(check)"), with what \(.status) shows where the vault was made")
    }
    guard !presented.pins.contains(check) else { return }
    let reason =
      try head.hadCheck(among: presented.pins)
      ? "is pinned to a check that \(path) says it had before, and was not unlocked here since; "
      : "is not pinned to \(path), which is another vault; "
    throw KeychainError(
      .rolledBack, "the identity from \(presented.source) \(reason)its check is \(check)",
      recovery: "if that is the check where the vault was made, "
        + "run \(.pinIdentity(check: "\(check)"))")
  }

  // MARK: - Asking

  /// Returns the question to a person; `nil` if nobody may be asked, or nothing that can be typed
  /// opens the vault.
  func question(_ head: VaultHead) -> Unlocking.Question? {
    guard configuration.ask != nil, let kind = kindToAskFor(head) else { return nil }
    return Unlocking.Question(
      kind: kind, takesRecoveryCode: !head.slots(of: .recoveryCode).isEmpty)
  }

  /// Returns the kind of secret to ask for; a recovery code only if nothing else is left.
  private func kindToAskFor(_ head: VaultHead) -> SlotKind? {
    let kinds = Self.kindsThatOpen(head)
    if kinds.contains(.passphrase) { return .passphrase }
    return kinds.contains(.recoveryCode) && kinds.isSubset(of: [.recoveryCode, .device])
      ? .recoveryCode : nil
  }

  private static func kindsThatOpen(_ head: VaultHead) -> Set<SlotKind> {
    Set(head.slots.filter(\.grant.opensEverything).map(\.kind))
  }

  /// Returns an error that says what would unlock the vault.
  func lockedError(_ vault: VaultFile.Opened, needsSecret: Bool) -> KeychainError {
    let (head, path) = (vault.head, vault.path)
    let kinds = Self.kindsThatOpen(head)
    guard !kinds.isEmpty else {
      return KeychainError(
        .damaged, "no slot of the vault \(path) can be read", recovery: .restoreBackup)
    }
    let bringing: KeychainError.Recovery =
      "bring device.key of the machine that made it to \(state.pathOfSecret ?? "the state folder")"
    if kinds == [.device] {
      return KeychainError(
        .locked, "the device key that opens the vault \(path) is not here", recovery: bringing)
    }
    let ways: [KeychainError.Recovery?] = [
      Self.ways(head, unlocking: !needsSecret, identity: identityAtHand),
      kinds.contains(.device) ? bringing : nil,
      configuration.emptyCredentialsFolder.map {
        "there is no keychain.passphrase or keychain.key that can be read in \($0)"
      },
    ]
    // The kept keys of an unlocked vault neither sign nor change who opens it.
    let isUnlocked = needsSecret && (try? keysAtHand(.unlockedNow, head)) != nil
    return KeychainError(
      .locked,
      isUnlocked
        ? "the vault \(path) is unlocked, but this needs a secret that opens it, once more"
        : "the vault \(path) is locked",
      recovery: ways.compactMap(\.self).joined(separator: "; "))
  }

  /// The user's identity file, if it exists; it opens nothing unless it is named.
  private var identityAtHand: String? {
    let locations = Locations(environment: configuration.environment)
    guard let path = try? locations.configurationFolder() + "/identity",
      (try? Stat(FilePath(path)))?.type == .regular
    else { return nil }
    return path
  }

  /// The secrets of a person that open everything, except a kind that failed; or unlocking, if that
  /// helps.
  private static func ways(
    _ head: VaultHead, but failed: SlotKind? = nil, unlocking: Bool = false, identity: String? = nil
  ) -> KeychainError.Recovery? {
    let keeps = unlocking && KernelKeyring.failure() == nil
    let unlocking: KeychainError.Recovery.Action = keeps ? .unlock : .giveKey(.passphrase)
    let code: KeychainError.Recovery.Action =
      keeps ? .unlockWithRecoveryCode : .giveKey(.recoveryCode)
    let keyFile: KeychainError.Recovery.Action = keeps ? .unlockWithKeyFile : .giveKey(.keyFile)
    let ways: [(SlotKind, KeychainError.Recovery)] = [
      (.passphrase, "give the passphrase, with \(unlocking) or KEYCHAIN_PASSPHRASE_FILE"),
      (.keyFile, "give the key file, with \(keyFile) or KEYCHAIN_KEY_FILE"),
      (
        .recipient,
        "give an identity, with KEYCHAIN_IDENTITY_FILE"
          + .advice(identity.map { "='\($0)', the one that is here" } ?? "")
      ),
      (.recoveryCode, "give the recovery code, with \(code)"),
    ]
    let kinds = kindsThatOpen(head).subtracting([failed].compactMap(\.self))
    return ways.filter { kinds.contains($0.0) }.map(\.1).joined(separator: "; ")
  }
}

extension VaultHead {
  /// Whether one of the checks was the vault's before a succession.
  fileprivate func hadCheck(among pins: [VaultCheck]) throws(KeychainError) -> Bool {
    for record in parts.successions {
      let change = try Succession(record, of: id)
      let old = try HeadIdentity(id: id, epoch: change.epoch, administration: change.oldKey)
      if try pins.contains(old.check()) { return true }
    }
    return false
  }
}
