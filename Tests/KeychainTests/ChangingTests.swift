import Foundation
import Keychain
import KeychainVault
import Synchronization
import Testing

@testable import Keychain

/// What happens before the lock of the choice is taken, and what under it.
@Suite("Changes through the choice of store", .timeLimit(.minutes(10)))
struct ChangingTests {
  private let machine: Machine

  init() throws { machine = try Machine() }

  private var lock: ChoiceLock {
    ChoiceLock(environment: VaultEnvironment(machine.environment))
  }

  /// A handle that asks for the passphrase, and counts how often nobody held the lock then.
  private func askingStore(
    _ asked: Record<Bool>, _ change: (inout AutomaticStore.Configuration) -> Void = { _ in }
  ) -> AutomaticStore {
    let lock = lock
    return machine.store {
      $0.vault.interaction = .allowed { _ throws(KeychainError) in
        let held = try? lock.exclusive(within: .zero)
        asked.add(held != nil)
        return try Self.secret("p")
      }
      change(&$0)
    }
  }

  private static func secret(_ text: String) throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      return try SecretBytes(copying: text)
    } catch {
      throw KeychainError(.internalFailure, "no memory")
    }
  }

  private func makeLockedVault() throws {
    let vault = machine.store { $0.vault.passwordHash = Self.cheap }.vault
    try vault.create(passphrase: SecretBytes(copying: "p"), keyFile: nil, device: true)
    try vault.lock(all: true)
  }

  private static let cheap = PasswordHash.Parameters(memory: 64 << 10, passes: 1)

  @Test func nobodyIsAskedUnderTheLock() throws {
    try makeLockedVault()
    let asked = Record<Bool>()
    let store = askingStore(asked)
    try store.put("a", "1")
    #expect(asked.values == [true])
    #expect(try store.text("a") == "1")
    try store.vault.lock(all: true)
    #expect(try store.remove(.item("a")))
    #expect(asked.values == [true, true])
  }

  /// Its keys are gone as soon as they were used, so the answer itself must do.
  @Test func aVaultThatKeepsNoKeysAsksOnce() throws {
    try makeLockedVault()
    let asked = Record<Bool>()
    let store = askingStore(asked) { $0.vault.idleTime = .zero }
    try store.put("a", "1")
    #expect(asked.values == [true])
  }

  @Test func whoeverSaysNoHasChangedNothing() throws {
    try makeLockedVault()
    let store = machine.store {
      $0.vault.interaction = .allowed { _ throws(KeychainError) in nil }
    }
    expect(.cancelled) { try store.put("a") }
    _ = try lock.exclusive(within: .zero)
  }

  /// A new vault is made by its passphrase, which is presented and hashed before.
  @Test func aNewVaultIsMadeBeforeTheLock() throws {
    let lock = lock
    let presented = Record<Bool>()
    let store = machine.store {
      $0.vault.passwordHash = Self.cheap
      $0.vault.unlock = .passphrase(named: "the test") { () throws(KeychainError) in
        let held = try? lock.exclusive(within: .zero)
        presented.add(held != nil)
        return try Self.secret("p")
      }
    }
    try store.put("a", "1")
    #expect(!presented.values.isEmpty && presented.values.allSatisfy { $0 })
    #expect(try store.text("a") == "1")
  }

  /// A provider that is looked for can take its time.
  @Test func theDesktopIsLookedAtBeforeTheLock() throws {
    let store = machine.store(machine.deadBus)
    try store.put("a")
    #expect(machine.newNotices() == [.storeChosen, .vaultCreated])
    #expect(try store.text("a") == "t")
  }

  @Test func changesWaitForAMigrationAndReadsDoNot() throws {
    let store = machine.store { $0.vault.deadline = .milliseconds(300) }
    try machine.store().put("a", "1")
    do {
      let alone = try lock.exclusive(within: .zero)
      expect(.busy) { try store.put("a", "2") }
      expect(.busy) { try store.update(.item("a"), with: CredentialUpdate(label: .set("l"))) }
      expect(.busy) { try store.rename(.item("a"), to: .item("b")) }
      expect(.busy) { try store.remove(.item("a")) }
      #expect(try store.text("a") == "1")
      #expect(try store.search(CredentialQuery(service: "s")).credentials.count == 1)
      #expect(try store.search(CredentialQuery()).credentials.count == 1)
      // Whoever names the store is past the choice.
      try machine.store { $0.choice = .vault }.put("b", "2")
      extendLifetime(alone)
    }
    try store.put("a", "3")
    #expect(try store.text("a") == "3")
  }

  @Test func aChangeOverBetweenLooksIsNoticed() throws {
    try machine.store().put("a", "1")
    let store = machine.store()
    var count = 0
    let found = try store.unmoved { () throws(KeychainError) in
      count += 1
      if count < 3 { try lock.exclusive(within: .zero).beginGeneration() }
      return try store.credential(for: .item("a"))
    }
    #expect(found != nil && count == 3)
    expect(.busy) {
      try store.unmoved { () throws(KeychainError) in
        try lock.exclusive(within: .zero).beginGeneration()
      }
    }
  }
}
