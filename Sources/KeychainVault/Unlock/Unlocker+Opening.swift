internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

extension Unlocker {
  /// Opens the vault with a presented secret.
  func open(
    _ presented: consuming PresentedSecret, _ head: VaultHead, _ path: String,
    _ deadline: Deadline
  ) throws(KeychainError) -> SlotOpener {
    let lock = try passwordHashLock(presented.kind, deadline)
    defer { extendLifetime(lock) }
    let opened = try openHoldingLock(presented, head, path, deadline)
    return SlotOpener(opened, presented: presented)
  }

  /// Takes the lock that allows each user one password hash at a time.
  ///
  /// This limits memory when many commands start together. If the lock file cannot be locked,
  /// hashing proceeds without it.
  func passwordHashLock(
    _ kind: SlotKind, _ deadline: Deadline
  ) throws(KeychainError) -> FileLock? {
    guard kind == .passphrase, let folder = try? lockFolder() else { return nil }
    do throws(FileError) {
      return try FileLock(exclusive: folder + "/kdf.lock", deadline: deadline)
    } catch {
      guard error.kind == .timedOut else { return nil }
      throw KeychainError(error)
    }
  }

  func openHoldingLock(
    _ presented: borrowing PresentedSecret, _ head: VaultHead, _ path: String,
    _ deadline: Deadline
  ) throws(KeychainError) -> OpenedSlot {
    if presented.kind == .recipient { return try openAsRecipient(presented, head, path) }
    let slots = head.slots(of: presented.kind)
    var trial = SlotTrial()
    for (index, slot) in slots.enumerated() {
      guard index == 0 || !deadline.hasPassed else {
        throw KeychainError(
          .timedOut, "\(slots.count - index) slots of the vault \(path) could not be tried in time",
          recovery: "try again with a longer deadline")
      }
      let inputKey = SharedSecret(try inputKey(of: presented, for: slot))
      // A slot that was copied from another vault or put back must not hide this vault's slots.
      let opened = try trial.open(slot, of: head, trust, inputKey: inputKey) {
        () throws(KeychainError) in
        try SlotSealing.open(slot, inputKey: inputKey.bytes, vault: head.id)
      }
      if let opened { return opened }
    }
    if let failure = trial.failure { throw failure }
    try head.requireWellFormed(presented.kind, path: path)
    guard slots.isEmpty else {
      throw KeychainError(
        .incorrectSecret,
        "the \(presented.kind) from \(presented.source) does not open the vault \(path)",
        recovery: Self.ways(head, but: presented.kind).map { "if it is lost: " + $0 })
    }
    throw KeychainError(
      .incorrectSecret,
      "\(presented.source) gives a \(presented.kind), and the vault \(path) has no such slot",
      recovery: .listWhatOpens)
  }

  private func inputKey(
    of presented: borrowing PresentedSecret, for slot: SlotRow
  ) throws(KeychainError) -> SecretBytes {
    switch slot.kind {
    case .passphrase: break
    case .keyFile: return try KeyFile.inputKey(presented.secret)
    default: return try SharedSecret(copying: presented.secret).copy()
    }
    guard let parameters = PasswordHash.Parameters(encoded: slot.parameters) else {
      throw .damagedSlot(slot.number)
    }
    try PasswordHashPolicy.requireMemory(for: parameters)
    return try SlotSealing.passphraseKey(
      presented.secret, salt: slot.salt, parameters: parameters)
  }

  private func lockFolder() throws(KeychainError) -> String {
    let named = try Locations(environment: configuration.environment).stateFolder()
    let folder = try translated(TrustedPath(resolving: named)).path
    try translated(PrivateFile.makeFolder(folder))
    return folder
  }

  /// Returns an error that says what would unlock the vault.
  func lockedError(_ head: VaultHead, _ path: String) -> KeychainError {
    let kinds = Set(head.slots.filter(\.grant.opensEverything).map(\.kind))
    guard !kinds.isEmpty else {
      return KeychainError(
        .damaged, "no slot of the vault \(path) can be read", recovery: .restoreBackup)
    }
    let bringing: KeychainError.Recovery =
      "bring device.key of the machine that made it to \(device.path ?? "the state folder")"
    if kinds == [.device] {
      return KeychainError(
        .locked, "the device key that opens the vault \(path) is not here", recovery: bringing)
    }
    let ways: [KeychainError.Recovery?] = [
      Self.ways(head, identity: identityAtHand), kinds.contains(.device) ? bringing : nil,
      sources.emptyCredentialsFolder.map {
        "there is no keychain.passphrase or keychain.key that can be read in \($0)"
      },
    ]
    return KeychainError(
      .locked, "the vault \(path) is locked",
      recovery: ways.compactMap(\.self).joined(separator: "; "))
  }

  /// The user's identity file, if it exists.
  ///
  /// It opens nothing unless it is named.
  private var identityAtHand: String? {
    let locations = Locations(environment: configuration.environment)
    guard let path = try? locations.configurationFolder() + "/identity",
      let stat = try? Stat(FilePath(path)), stat.type == .regular
    else { return nil }
    return path
  }

  /// Returns what a person can give that opens everything, except for a kind that failed; `nil` if
  /// there is nothing.
  private static func ways(
    _ head: VaultHead, but failed: SlotKind? = nil, identity: String? = nil
  ) -> KeychainError.Recovery? {
    let kinds = Set(head.slots.filter(\.grant.opensEverything).map(\.kind))
    let keeps = UnlockCache.isAvailable
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
    let possible = ways.filter { kinds.contains($0.0) && $0.0 != failed }.map(\.1)
    return possible.joined(separator: "; ")
  }
}

extension KeychainError {
  /// The error after a person's last wrong answer, if a recovery code can be typed as well.
  var namingCodeAtPrompt: Self {
    guard code == .incorrectSecret else { return self }
    let way: Recovery = ", or type the recovery code where the passphrase is asked for"
    return Self(
      code, message, recovery: (recovery ?? .tryAgain) + way,
      underlying: underlying)
  }
}
