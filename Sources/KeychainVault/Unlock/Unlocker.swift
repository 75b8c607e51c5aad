internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import Synchronization
internal import SystemPackage

/// Finds the keys of a vault, asking as little as an operation needs.
///
/// An explicit source is used alone. Otherwise the order is: keys that this handle holds, the
/// device secret, the kernel's cache, the first ambient source, a person.
final class Unlocker: Sendable {
  let configuration: VaultConfiguration
  let sources: UnlockSources
  let cache: UnlockCache
  let device: DeviceKeys
  let trust: SlotTrust
  let held: HeldKeys

  /// Held while a person is asked.
  private let asking = Mutex(())

  init(_ configuration: VaultConfiguration, _ state: StateFolder, _ file: VaultFile) {
    self.configuration = configuration
    sources = UnlockSources(policy: configuration.secretFilePolicy)
    cache = UnlockCache(idleTime: configuration.idleTime)
    trust = SlotTrust(file)
    device = DeviceKeys(state, trust)
    held = HeldKeys(idleTime: configuration.idleTime)
  }

  /// Returns the keys that an operation needs, unlocking as far as `requirement` demands.
  ///
  /// Without `mayAsk`, no person is asked and no ambient source is read. Fails with
  /// ``KeychainError/Code/locked`` if nothing at hand unlocks the vault that far,
  /// ``KeychainError/Code/incorrectSecret`` if what was presented is wrong, and
  /// ``KeychainError/Code/cancelled``.
  func keys(
    _ requirement: Accessibility.UnlockRequirement, _ head: VaultHead, path: String,
    _ deadline: Deadline, mayAsk: Bool = true
  ) throws(KeychainError) -> TierKeys {
    if let keys = try keysAtHand(requirement, head) { return keys }
    if let source = configuration.unlock {
      let keys = try open(try present(source, deadline), head, path, deadline).opened.keys
      held.hold(keys)
      return keys
    }
    guard mayAsk else { throw lockedError(head, path) }
    if let keys = try ambientKeys(requirement, head, path, deadline) { return keys }
    return try askedKeys(requirement, head, path, deadline)
  }

  /// Returns the keys that are available without any work, if they are enough.
  func keysAtHand(
    _ requirement: Accessibility.UnlockRequirement, _ head: VaultHead
  ) throws(KeychainError) -> TierKeys? {
    if let keys = held.keys(for: head) { return keys }
    // An explicit source is used alone.
    guard configuration.unlock == nil else { return nil }
    let own = try device.keys(head)
    if let own, own.readable == .unlockedNow { return own }
    let open: SharedSecret? = if let own { own.open } else { try cache.key(.open, of: head) }
    guard let open else { return nil }
    let keys = TierKeys(
      binding: head.binding, checks: head.parts.checks, open: open,
      first: try cache.key(.first, of: head),
      unlocked: try cache.key(.unlocked, of: head))
    return keys.satisfies(requirement) ? keys : nil
  }

  /// Extends the idle time after a use of tier T2.
  func touch(_ head: VaultHead) {
    // A vault that the device key opens is never locked, and its keys were not taken from the
    // cache.
    guard !device.opensEverything(of: head) else { return }
    held.touch()
    cache.touch(head.id)
  }

  /// Whether a secret is at hand that unlocks without asking.
  var hasUnattendedSource: Bool {
    configuration.unlock != nil || !sources.ambient.isEmpty
  }

  // MARK: - Presented secrets

  private func ambientKeys(
    _ requirement: Accessibility.UnlockRequirement, _ head: VaultHead, _ path: String,
    _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys? {
    guard let presented = try sources.presentAmbient() else { return nil }
    let lock = try passwordHashLock(presented.kind, deadline)
    defer { extendLifetime(lock) }
    // The previous holder of the lock may have unlocked the vault.
    if let keys = try keysAtHand(requirement, head) { return keys }
    let keys = try openHoldingLock(presented, head, path, deadline).keys
    keep(keys, head)
    return keys
  }

  /// Asks once for all tasks, because each would need the same answer.
  private func askedKeys(
    _ requirement: Accessibility.UnlockRequirement, _ head: VaultHead, _ path: String,
    _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys {
    try deadline.excluding { () throws(KeychainError) in
      try asking.withLock { _ throws(KeychainError) in
        // The previous question may have unlocked the vault.
        if let keys = try keysAtHand(requirement, head) { return keys }
        let keys = try openedByAnswer(head, path).opened.keys
        keep(keys, head)
        return keys
      }
    }
  }

  /// Reads a source, which may ask a person.
  func present(
    _ source: UnlockSource, _ deadline: Deadline
  ) throws(KeychainError) -> PresentedSecret {
    try deadline.excluding { () throws(KeychainError) in try sources.present(source) }
  }

  func openedByAnswer(_ head: VaultHead, _ path: String) throws(KeychainError) -> SlotOpener {
    guard let ask = configuration.ask, let kind = kindToAskFor(head)
    else { throw lockedError(head, path) }
    for attempt in 0..<3 {
      let request = PassphraseRequest(
        vaultPath: path, kind: kind, takesRecoveryCode: !head.slots(of: .recoveryCode).isEmpty,
        failedAttempts: attempt)
      guard let answer = try ask(request) else {
        throw KeychainError(.cancelled, "unlocking was cancelled")
      }
      // The time a person takes does not count against the deadline.
      let deadline = configuration.deadlineOfCall()
      do throws(KeychainError) {
        if kind == .passphrase, let opened = try opened(byCode: answer, head, path, deadline) {
          return opened
        }
        return try open(try Self.presented(answer, kind), head, path, deadline)
      } catch {
        guard error.code == .incorrectSecret, attempt < 2 else {
          throw request.takesRecoveryCode && kind != .recoveryCode
            ? error.namingCodeAtPrompt : error
        }
      }
    }
    throw lockedError(head, path)
  }

  /// Opens the vault with an answer to the passphrase question, if its checksum shows that it is
  /// the recovery code.
  private func opened(
    byCode answer: borrowing SecretBytes, _ head: VaultHead, _ path: String, _ deadline: Deadline
  ) throws(KeychainError) -> SlotOpener? {
    guard !head.slots(of: .recoveryCode).isEmpty, let code = try? RecoveryCode(text: answer) else {
      return nil
    }
    do throws(KeychainError) {
      return try open(
        try Self.presented(try code.text(), .recoveryCode), head, path, deadline)
    } catch {
      guard error.code == .incorrectSecret else { throw error }
      return nil
    }
  }

  /// Returns what to ask a person for.
  ///
  /// A recovery code is named only if nothing else is left.
  private func kindToAskFor(_ head: VaultHead) -> SlotKind? {
    let kinds = Set(head.slots.filter(\.grant.opensEverything).map(\.kind))
    if kinds.contains(.passphrase) { return .passphrase }
    return kinds.contains(.recoveryCode) && kinds.isSubset(of: [.recoveryCode, .device])
      ? .recoveryCode : nil
  }

  private static func presented(
    _ answer: consuming SecretBytes, _ kind: SlotKind
  ) throws(KeychainError) -> PresentedSecret {
    kind == .recoveryCode
      ? try UnlockSources.recoveryCode(answer, "the prompt")
      : PresentedSecret(kind: kind, secret: answer, source: "the prompt")
  }

  /// Keeps keys for later calls: in the kernel if possible, otherwise in this handle.
  private func keep(_ keys: TierKeys, _ head: VaultHead) {
    do throws(KeychainError) {
      try cache.put(keys, of: head.id, fixedTime: nil)
    } catch {
      // In a container this happens to each command; `unlock` and `doctor` report it.
      held.hold(keys)
    }
  }

  // MARK: - Locking

  /// Forgets the keys that this handle keeps.
  func forgetHeldKeys() { held.forget() }

  /// Forgets the keys of vaults.
  ///
  /// - Returns: Whether none is left.
  @discardableResult
  func lock(_ vaults: Set<VaultID>, all: Bool) -> Bool {
    forgetHeldKeys()
    var isLocked = true
    for vault in vaults {
      for tier in all ? Tier.allCases : [.unlocked] where !cache.forget(tier, of: vault) {
        isLocked = false
      }
    }
    return isLocked
  }

  /// Removes the cached keys of a vault that was replaced by another.
  ///
  /// Nothing else would find them.
  func forgetCachedKeys(of record: SeenRecord?) {
    if let record { lock([record.id], all: true) }
  }
}
