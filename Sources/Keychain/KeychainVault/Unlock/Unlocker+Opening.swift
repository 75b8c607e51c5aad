internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

extension Unlocker {
  /// Opens the vault with a presented secret.
  func open(
    _ presented: borrowing PresentedSecret, _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> OpenedSlot {
    let lock = try passwordHashLock(presented.kind, deadline)
    defer { extendLifetime(lock) }
    return try openHoldingLock(presented, vault, deadline)
  }

  /// Reads a source, which may ask a person.
  func present(
    _ source: UnlockSource, _ deadline: Deadline
  ) throws(KeychainError) -> PresentedSecret {
    try deadline.excluding { () throws(KeychainError) in try configuration.present(source) }
  }

  /// Takes the lock that allows each user one password hash at a time, to limit memory; `nil` if it can't be had.
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
      throw KeychainError(
        .incorrectSecret, "the \(kind) from \(source) does not open the vault \(path)",
        recovery: Self.ways(head, but: kind).map { "if it is lost: " + $0 })
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
    default: return try translated(secrets: presented.secret.copy())
    }
  }

  private func openAsRecipient(
    _ presented: borrowing PresentedSecret, _ slots: [SlotRow], _ vault: VaultFile.Opened
  ) throws(KeychainError) -> OpenedSlot? {
    let head = vault.head
    // A record of another vault, which a person is about to let go, vouches for nothing here.
    if file.seenRecord?.id != head.id { try checkPins(of: presented, vault) }
    let identity = try VaultIdentity(seed: translated(secrets: presented.secret.copy()))
    var opened = try open(slots, of: head) { slot throws(KeychainError) in
      try SlotSealing.open(slot, identity: identity, vault: head.id).map { ($0, nil) }
    }
    if let path = presented.path, !presented.pins.isEmpty {
      opened?.pinnedFile = (path, presented.source)
    }
    return opened
  }

  /// Where nothing was seen, the pins decide: who can write the file can seal keys of another vault to the identity.
  private func checkPins(
    of presented: borrowing PresentedSecret, _ vault: VaultFile.Opened
  ) throws(KeychainError) {
    let (check, path) = (try vault.head.check(), vault.path)
    guard !presented.pins.isEmpty else {
      return configuration.report(
        .firstSight,
        "the vault \(path) is seen here for the first time, and the identity is not pinned to any "
          + "vault",
        recovery:
          "compare its check, \("\(check)"), with what \(.status) shows where the vault was made")
    }
    guard !presented.pins.contains(check) else { return }
    throw KeychainError(
      .rolledBack,
      "the identity from \(presented.source) is not pinned to \(path), which is another vault; "
        + "its check is \(check)",
      recovery: "if that is the check where the vault was made, "
        + "run \(.pinIdentity(check: "\(check)"))")
  }
}

// MARK: - Asking

extension Unlocker {
  func openedByAnswer(_ vault: VaultFile.Opened) throws(KeychainError) -> OpenedSlot {
    guard let ask = configuration.ask, let kind = kindToAskFor(vault.head)
    else { throw lockedError(vault) }
    let takesCode = !vault.head.slots(of: .recoveryCode).isEmpty
    for attempt in 0..<3 {
      let request = PassphraseRequest(
        vaultPath: vault.path, kind: kind, takesRecoveryCode: takesCode, failedAttempts: attempt)
      guard let answer = try ask(request) else {
        throw KeychainError(.cancelled, "unlocking was cancelled")
      }
      // The time a person takes does not count against the deadline.
      let deadline = configuration.deadlineOfCall()
      let source = "the prompt"
      do throws(KeychainError) {
        if kind == .recoveryCode {
          return try open(try .recoveryCode(answer, source), vault, deadline)
        }
        // The checksum of an answer shows that it is the recovery code.
        if takesCode, let code = try? PresentedSecret.recoveryCode(answer, source) {
          do throws(KeychainError) {
            return try open(code, vault, deadline)
          } catch { guard error.code == .incorrectSecret else { throw error } }
        }
        return try open(
          PresentedSecret(kind: kind, secret: answer, source: source), vault, deadline)
      } catch {
        guard error.code == .incorrectSecret, attempt < 2 else {
          throw takesCode && kind != .recoveryCode ? error.namingCodeAtPrompt : error
        }
      }
    }
    throw lockedError(vault)
  }

  /// Returns what to ask a person for; a recovery code only if nothing else is left.
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
  private func lockedError(_ vault: VaultFile.Opened) -> KeychainError {
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
      Self.ways(head, identity: identityAtHand), kinds.contains(.device) ? bringing : nil,
      configuration.emptyCredentialsFolder.map {
        "there is no keychain.passphrase or keychain.key that can be read in \($0)"
      },
    ]
    return KeychainError(
      .locked, "the vault \(path) is locked",
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

  /// What a person can give that opens everything, except for a kind that failed.
  private static func ways(
    _ head: VaultHead, but failed: SlotKind? = nil, identity: String? = nil
  ) -> KeychainError.Recovery? {
    let keeps = KernelKeyring.failure() == nil
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

extension KeychainError {
  /// The error after a person's last wrong answer, if a recovery code can be typed as well.
  fileprivate var namingCodeAtPrompt: Self {
    guard code == .incorrectSecret else { return self }
    let way: Recovery = ", or type the recovery code where the passphrase is asked for"
    return Self(code, message, recovery: (recovery ?? .tryAgain) + way, underlying: underlying)
  }
}
