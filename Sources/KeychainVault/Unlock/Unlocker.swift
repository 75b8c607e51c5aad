internal import KeychainCredentials
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
  let state: StateFolder
  let device: DeviceKeys
  let trust: SlotTrust
  let held: HeldKeys

  /// Held while a person is asked.
  private let asking = Mutex(())

  init(_ configuration: VaultConfiguration, _ state: StateFolder, _ file: VaultFile) {
    self.configuration = configuration
    sources = UnlockSources(given: configuration.unlock, policy: configuration.secretFilePolicy)
    cache = UnlockCache(idleTime: configuration.idleTime)
    self.state = state
    trust = SlotTrust(file)
    device = DeviceKeys(state, trust)
    held = HeldKeys(idleTime: configuration.idleTime)
  }

  /// Returns the keys that an operation needs, unlocking as far as `requirement` demands.
  func keys(
    _ requirement: Accessibility.UnlockRequirement, _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys {
    if let keys = try keysAtHand(requirement, vault.head) { return keys }
    if let source = configuration.unlock {
      let keys = try open(try present(source, deadline), vault, deadline).keys
      held.hold(keys)
      return keys
    }
    if let keys = try ambientKeys(requirement, vault, deadline) { return keys }
    // One question for all tasks, because each would need the same answer.
    return try deadline.excluding { () throws(KeychainError) in
      try asking.withLock { _ throws(KeychainError) in
        // The previous question may have unlocked the vault.
        if let keys = try keysAtHand(requirement, vault.head) { return keys }
        return keep(try openedByAnswer(vault).keys, vault.head)
      }
    }
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

  /// Returns keys, if there are any, with which a person looks at the vault without being asked.
  ///
  /// In a shared vault nothing of this machine opens the list of members, so a given identity does.
  /// Its keys are not kept, because looking must not unlock the vault.
  func keysToLook(
    _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys? {
    if let keys = try keysAtHand(.nothing, vault.head) { return keys }
    // Opening the vault reports what is wrong with the identity.
    guard let source = try? sources.first, case .identityFile(let file) = source.kind,
      // A pipe can be read only once, and may block its readers.
      (try? Stat(FilePath(file)))?.type == .regular, let presented = try? sources.present(source)
    else { return nil }
    return (try? open(presented, vault, deadline))?.keys
  }

  /// Extends the idle time after a use of tier T2.
  func touch(_ head: VaultHead) {
    // A vault that the device key opens is never locked, and its keys were not taken from the
    // cache.
    guard !device.opensEverything(of: head) else { return }
    held.touch()
    cache.touch(head.id)
  }

  private func ambientKeys(
    _ requirement: Accessibility.UnlockRequirement, _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys? {
    guard let presented = try sources.presentAmbient() else { return nil }
    let lock = try passwordHashLock(presented.kind, deadline)
    defer { extendLifetime(lock) }
    // The previous holder of the lock may have unlocked the vault.
    if let keys = try keysAtHand(requirement, vault.head) { return keys }
    return keep(try openHoldingLock(presented, vault, deadline).keys, vault.head)
  }

  /// Keeps keys for later calls: in the kernel if possible, otherwise in this handle.
  private func keep(_ keys: TierKeys, _ head: VaultHead) -> TierKeys {
    do throws(KeychainError) {
      try cache.put(keys, of: head.id, fixedTime: nil)
    } catch {
      // In a container this happens to each command; `unlock` and `doctor` report it.
      held.hold(keys)
    }
    return keys
  }

  /// Forgets the keys of vaults, and returns whether none is left.
  @discardableResult
  func lock(_ vaults: Set<VaultID>, all: Bool) -> Bool {
    held.forget()
    let tiers = all ? Tier.allCases : [.unlocked]
    // Every key goes before a failure counts.
    let gone = vaults.flatMap { vault in tiers.map { cache.forget($0, of: vault) } }
    return gone.allSatisfy(\.self)
  }

  /// Removes the cached keys of a vault that was replaced by another: nothing else would find them.
  func forgetCachedKeys(of record: SeenRecord?) {
    if let record { lock([record.id], all: true) }
  }
}

// MARK: - What needs a member of the vault, rather than tier keys, which the cache may hold

extension Unlocker {
  /// Opens the vault with a slot that administers; its root key is never kept.
  func administrator(
    _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> OpenedSlot {
    let opened = try member(vault, deadline)
    guard opened.root != nil else {
      throw KeychainError(
        .refused, "\(opened.member.called) may not change who opens the vault",
        recovery: "open it with an identity that administers it, or with its recovery code: "
          + "\(.listSlots) shows which slots do")
    }
    return opened
  }

  /// Returns keys that sign in a shared vault. The cache has none, so a secret is presented again.
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

  /// Returns all keys, from a secret that is presented now; they are not kept.
  func allKeys(
    _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys {
    try member(vault, deadline).keys
  }

  /// Whether the identity at hand is pinned to a check, which a person has compared.
  func isPinned(to check: VaultCheck) throws(KeychainError) -> Bool {
    guard let source = try sources.first, case .identityFile = source.kind else { return false }
    return try sources.present(source).pins.contains(check)
  }

  /// Opens the vault with a secret that is presented now, or with a device slot that administers.
  private func member(
    _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> OpenedSlot {
    if let source = configuration.unlock {
      return try open(try present(source, deadline), vault, deadline)
    }
    if let opened = try device.administrator(vault.head) { return opened }
    if let presented = try sources.presentAmbient() {
      return try open(presented, vault, deadline)
    }
    return try deadline.excluding { () throws(KeychainError) in try openedByAnswer(vault) }
  }
}

extension Member {
  static func check(name: String) throws(KeychainError) {
    guard name.utf8.count <= maximumNameCount else {
      throw KeychainError(
        .invalidArgument, "the name of a slot has at most \(maximumNameCount) bytes")
    }
  }

  /// The slot as messages call it, such as "slot 3 (alice)".
  var called: String { name.isEmpty ? "slot \(number)" : "slot \(number) (\(name))" }
}
