import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Synchronization
import Testing

@testable import KeychainVault

/// Needs the kernel's keyring, and fails without it.
@Suite("Locking and unlocking")
struct LockingTests {
  private func lockedVault() throws -> TestVault {
    let vault = try TestVault()
    for accessibility in [Accessibility.whenUnlocked, .afterFirstUnlock, .always] {
      try vault.handle(passphrase: "open").put("\(accessibility)", "s", accessibility)
    }
    return vault
  }

  private func readable(_ vault: TestVault) -> [String] {
    ["whenUnlocked", "afterFirstUnlock", "always"].filter {
      (try? vault.handle().text($0)) == "s"
    }
  }

  @Test func lockForgetsWhatIsReadableWhileUnlockedOnly() throws {
    let vault = try lockedVault()
    #expect(readable(vault) == ["always"])
    try vault.handle(passphrase: "open").unlock()
    #expect(readable(vault) == ["whenUnlocked", "afterFirstUnlock", "always"])
    try vault.handle().lock()
    #expect(readable(vault) == ["afterFirstUnlock", "always"])
    try vault.handle().lock(all: true)
    #expect(readable(vault) == ["always"])
  }

  /// The file may be gone, or be another vault's.
  @Test func lockForgetsKeysOfTheSeenVault() throws {
    let vault = try lockedVault()
    let cache = UnlockCache(idleTime: .seconds(60))
    let other = try TestVault()
    try other.handle().put("a")
    let admin = try other.handle().administration()
    let seen = admin.head
    try cache.put(
      admin.keys, of: seen.id, at: [seen.id.bytes.hexadecimal], fixedTime: nil)
    let path = try vault.handle().path()
    let file = try SeenRecordFile(
      folder: vault.seenFolder, vaultPath: path)
    try file.replace(by: .test(seen.id, counter: 1))
    try vault.handle().lock()
    #expect(try cache.key(.unlocked, of: seen) == nil)
    #expect(try cache.key(.first, of: seen) != nil)
    try FileManager.default.removeItem(atPath: vault.path)
    try vault.handle().lock(all: true)
    for tier in Tier.allCases { #expect(try cache.key(tier, of: seen) == nil) }
  }

  /// Programs that know the default vault's former name alone cached its keys at that path.
  @Test(arguments: [false, true])
  func lockForgetsKeysOfTheFormerName(_ isMoved: Bool) throws {
    let vault = try lockedVault()
    let former = vault.path + ".db"
    try FileManager.default.moveItem(atPath: vault.path, toPath: former)
    try vault.handle(passphrase: "open") { $0.path = former }.unlock()
    try FileManager.default.removeItem(atPath: vault.seenFolder)
    let place = isMoved ? vault.path : vault.path + ".away"
    try FileManager.default.moveItem(atPath: former, toPath: place)
    try vault.handle().lock()
    try vault.handle().lock(all: true)
    let left = vault.handle { $0.path = place }
    #expect(failure { _ = try left.text("whenUnlocked") }?.code == .locked)
    #expect(failure { _ = try left.text("afterFirstUnlock") }?.code == .locked)
  }

  /// Somebody who can write the file and the record takes nothing out of the kernel's keyring by that.
  @Test(arguments: [false, true])
  func lockForgetsKeysWhoseFileAndRecordAreGone(_ isReplaced: Bool) throws {
    let vault = try lockedVault()
    let bytes = try Data(contentsOf: URL(filePath: vault.path))
    try vault.handle(passphrase: "open").unlock()
    try FileManager.default.removeItem(atPath: vault.path)
    try FileManager.default.removeItem(atPath: vault.seenFolder)
    if isReplaced {
      var other = bytes
      // The id in the head.
      other[32] ^= 1
      try write(other, to: vault)
    }
    try vault.handle().lock(all: true)
    try write(bytes, to: vault)
    #expect(readable(vault) == ["always"])
    // Another vault that is unlocked there takes the place of the one before.
    try vault.handle(passphrase: "open").unlock()
    try FileManager.default.removeItem(atPath: vault.path)
    try FileManager.default.removeItem(atPath: vault.seenFolder)
    try vault.handle().put("a")
    try vault.handle().unlock()
    try FileManager.default.removeItem(atPath: vault.path)
    try FileManager.default.removeItem(atPath: vault.seenFolder)
    try vault.handle().lock(all: true)
    try write(bytes, to: vault)
    #expect(readable(vault) == ["always"])
  }

  private func write(_ bytes: Data, to vault: TestVault) throws {
    let made = FileManager.default.createFile(
      atPath: vault.path, contents: bytes, attributes: [.posixPermissions: 0o600])
    try #require(made)
  }

  @Test func lockFailsIfKeysAreUnknown() throws {
    let vault = try lockedVault()
    let path = try vault.handle().path()
    let file = try SeenRecordFile(
      folder: vault.seenFolder, vaultPath: path)
    try Data([1]).write(to: URL(filePath: file.path))
    try FileManager.default.moveItem(atPath: vault.path, toPath: vault.path + ".away")
    let failure = #expect(throws: KeychainError.self) { try vault.handle().lock(all: true) }
    #expect(failure?.code == .noStore)
    try FileManager.default.moveItem(atPath: vault.path + ".away", toPath: vault.path)
    // Another vault may lie there.
    let present = #expect(throws: KeychainError.self) { try vault.handle().lock(all: true) }
    #expect(present?.code == .damaged)
    _ = try vault.handle(passphrase: "open").text("whenUnlocked")
    try vault.handle().lock(all: true)
  }

  @Test func lockReachesHandlesThatReadTheCache() throws {
    let vault = try lockedVault()
    try vault.handle(passphrase: "open").unlock()
    let handle = vault.handle()
    #expect(try handle.text("whenUnlocked") == "s")
    try vault.handle().lock()
    #expect(throws: KeychainError.self) { try handle.text("whenUnlocked") }
  }

  @Test func handleWithPassphraseKeepsKeysUntilItLocks() throws {
    let vault = try lockedVault()
    let asked = Mutex(0)
    let handle = vault.handle {
      $0.unlock = .passphrase(named: "the test") { () throws(KeychainError) in
        asked.withLock { $0 += 1 }
        return try SecretBytes(copying: "open")
      }
    }
    for _ in 0..<3 { #expect(try handle.text("whenUnlocked") == "s") }
    #expect(asked.withLock { $0 } == 1)
    try vault.handle().lock()
    #expect(try handle.text("whenUnlocked") == "s")
    try handle.lock()
    #expect(try handle.text("whenUnlocked") == "s")
    #expect(asked.withLock { $0 } == 2)
  }

  @Test func theIdleTimePassesForAHandle() throws {
    let vault = try lockedVault()
    let handle = vault.handle(passphrase: "open")
    #expect(try handle.text("whenUnlocked") == "s")
    let held = HeldKeys(idleTime: .zero)
    let second = try TestVault()
    try second.handle().put("a")
    let (own, other) = (try handle.administration(), try second.handle().administration())
    held.hold(own.keys)
    #expect(held.keys(for: own.head) == nil)
    let long = HeldKeys(idleTime: .seconds(60))
    long.hold(own.keys)
    #expect(long.keys(for: own.head) != nil && long.keys(for: other.head) == nil)
  }

  @Test func theCacheExpires() throws {
    let vault = try lockedVault()
    try vault.handle(passphrase: "open").unlock(timeout: .milliseconds(1))
    let deadline = ContinuousClock.now + .seconds(60)
    while readable(vault).contains("whenUnlocked"), ContinuousClock.now < deadline {
      usleep(50_000)
    }
    #expect(readable(vault) == ["afterFirstUnlock", "always"])
  }

  @Test func statusNeitherAsksNorProlongs() throws {
    let vault = try lockedVault()
    let handle = vault.handle {
      $0.interaction = .allowed { _ throws(KeychainError) in
        Issue.record("status asked for the passphrase")
        return nil
      }
    }
    #expect(try handle.status().readable == .nothing)
    #expect(try handle.status().cachedFor == nil)
    try vault.handle(passphrase: "open").unlock(timeout: .seconds(100))
    let status = try handle.status()
    #expect(status.readable == .unlockedNow)
    #expect(try #require(status.cachedFor) <= .seconds(100))
    #expect(status.itemCount == 3)
  }

  @Test func passphraseIsAskedThreeTimesAndCancellable() throws {
    let vault = try lockedVault()
    let attempts = Mutex<[Int]>([])
    let handle = vault.handle {
      $0.interaction = .allowed { request throws(KeychainError) in
        attempts.withLock { $0.append(request.failedAttempts) }
        return try SecretBytes(copying: "wrong")
      }
    }
    #expect(throws: KeychainError.self) { try handle.text("whenUnlocked") }
    #expect(attempts.withLock { $0 } == [0, 1, 2])
    let cancelling = vault.handle { $0.interaction = .allowed { _ throws(KeychainError) in nil } }
    let error = #expect(throws: KeychainError.self) { try cancelling.text("whenUnlocked") }
    #expect(error?.code == .cancelled)
    // Reading an item that needs no unlock does not ask.
    #expect(try cancelling.text("always") == "s")
  }

  @Test func aPersonIsAskedOnceForAllTasks() throws {
    let vault = try lockedVault()
    let count = Mutex(0)
    let handle = vault.handle {
      $0.interaction = .allowed { _ throws(KeychainError) in
        count.withLock { $0 += 1 }
        usleep(300_000)
        return try? SecretBytes(copying: "open")
      }
    }
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      #expect(throws: Never.self) { try handle.text("whenUnlocked") }
    }
    #expect(count.withLock { $0 } == 1)
  }

  @Test func lockedItemsAreCountedAndNotNamed() throws {
    let vault = try lockedVault()
    let result = try vault.handle().search(CredentialQuery())
    #expect(result.credentials.map(\.identity) == [.test("always")])
    #expect(result.lockedCount == 2)
  }

  @Test func lockedItemsAreNeitherReplacedNorRemoved() throws {
    let vault = try lockedVault()
    #expect(throws: KeychainError.self) { try vault.handle().put("whenUnlocked", "new") }
    #expect(throws: KeychainError.self) { try vault.handle().put("whenUnlocked", "new", .always) }
    #expect(throws: KeychainError.self) { try vault.handle().remove(.test("whenUnlocked")) }
    #expect(throws: KeychainError.self) { try vault.handle().put("other") }
    #expect(try vault.handle(passphrase: "open").text("whenUnlocked") == "s")
  }
}
