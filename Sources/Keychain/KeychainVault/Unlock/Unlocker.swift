internal import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import Synchronization
internal import SystemPackage

/// Finds the keys of a vault: those that this handle holds, then by the explicit source alone, or else by the device
/// secret, the kernel's cache, the first ambient source, and a person.
final class Unlocker: Sendable {
  let configuration: VaultConfiguration
  let cache: UnlockCache
  let state: StateFolder
  let file: VaultFile
  let held: HeldKeys
  let knownOwnSlot = Mutex<OwnSlot?>(nil)

  private let compared = Mutex<VaultCheck?>(nil)

  /// Held while a person is asked.
  private let asking = Mutex(())

  init(_ configuration: VaultConfiguration, _ state: StateFolder, _ file: VaultFile) {
    self.configuration = configuration
    cache = UnlockCache(idleTime: configuration.idleTime)
    self.state = state
    self.file = file
    held = HeldKeys(idleTime: configuration.idleTime)
  }

  /// What a person compared; `nil` if nobody did.
  var comparedCheck: VaultCheck? {
    get { compared.withLock { $0 } }
    set { compared.withLock { $0 = newValue } }
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

  /// Returns keys, if there are any, with which a person looks at the vault without being asked; in a shared vault
  /// those of a given identity, which are not kept, because looking must not unlock the vault.
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

  private func ambientKeys(
    _ requirement: Accessibility.UnlockRequirement, _ vault: VaultFile.Opened, _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys? {
    guard let presented = try configuration.presentFirst() else { return nil }
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
}

// MARK: - What needs a member of the vault, rather than tier keys, which the cache may hold

extension Unlocker {
  /// Returns keys that sign in a shared vault: the cache has none, so a secret is presented again.
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

  /// Whether the identity at hand is pinned to a check, which a person has compared.
  func isPinned(to check: VaultCheck) throws(KeychainError) -> Bool {
    guard let source = try configuration.firstSource, case .identityFile = source.kind else {
      return false
    }
    return try configuration.present(source).pins.contains(check)
  }

  /// Opens the vault with a secret that is presented now, or with a device slot that administers.
  func member(_ vault: VaultFile.Opened, _ deadline: Deadline) throws(KeychainError) -> OpenedSlot {
    if let source = configuration.unlock {
      return try open(try present(source, deadline), vault, deadline)
    }
    if let opened = try openOwnSlot(of: vault.head), opened.root != nil { return opened }
    if let presented = try configuration.presentFirst() {
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
