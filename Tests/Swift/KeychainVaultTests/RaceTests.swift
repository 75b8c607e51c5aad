import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Synchronization
import Testing

@testable import KeychainVault

/// Changes that others make to a vault between two steps of one operation.
@Suite("Changes by others in between")
struct RaceTests {
  private func secret(_ text: String) throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      return try SecretBytes(copying: text)
    } catch {
      throw KeychainError(error)
    }
  }

  @Test func addingPassphraseRekeysDeviceVault() throws {
    let vault = try TestVault()
    try vault.handle(passphrase: "one").put("a")
    let isFirst = Mutex(true)
    let adding = vault.handle {
      $0.unlock = .passphrase(named: "the test") { () throws(KeychainError) in
        // The only passphrase is removed between reading the slots and the transaction.
        if isFirst.withLock({ first in
          defer { first = false }; return first
        }) {
          try vault.handle(passphrase: "one").removeSlot(2)
        }
        return try secret("one")
      }
    }
    let error = #expect(throws: KeychainError.self) {
      try adding.addPassphraseSlot(secret("two"))
    }
    #expect(error?.code == .busy)
    #expect(try vault.handle().slots().map(\.kind) == [.device])
  }

  @Test func handleNoticesWiderDeviceAccess() throws {
    let vault = try TestVault()
    try vault.handle(passphrase: "one").put("a", "secret")
    let running = vault.handle()
    #expect(throws: KeychainError.self) { try running.text("a") }
    try vault.handle(passphrase: "one").removeSlot(2)
    #expect(try running.text("a") == "secret")
  }

  @Test func lockForgetsKeysOfMissingVault() throws {
    let vault = try TestVault()
    let asked = Mutex(0)
    let handle = vault.handle {
      $0.unlock = .passphrase(named: "the test") { () throws(KeychainError) in
        asked.withLock { $0 += 1 }
        return try secret("one")
      }
    }
    try handle.put("a", "secret")
    #expect(try handle.text("a") == "secret")
    let before = asked.withLock { $0 }
    try FileManager.default.moveItem(atPath: vault.path, toPath: vault.path + ".away")
    try handle.lock()
    try FileManager.default.moveItem(atPath: vault.path + ".away", toPath: vault.path)
    #expect(try handle.text("a") == "secret")
    #expect(asked.withLock { $0 } == before + 1)
  }

  @Test func creatorDoesNotLowerSeenRecord() throws {
    let vault = try TestVault()
    let record = try SeenRecordFile(
      stateFolder: vault.folder.path + "/state/keychain", vaultPath: vault.path)
    let check = Data(repeating: 1, count: 16)
    let (made, fifth, sixth) = (state(1), state(5), state(6))
    try record.raise(check: check, to: fifth)
    try record.replace(by: SeenRecord(checks: [check], state: made))
    #expect(record.read() == .record(SeenRecord(checks: [check], state: fifth)))
    // While a vault gets a new root key, both checks are valid; a newer state shows which one it
    // got.
    let next = Data(repeating: 3, count: 16)
    try record.replace(by: SeenRecord(checks: [check, next], state: fifth))
    try record.raise(check: next, to: sixth)
    let newest = SeenRecord(checks: [next], state: sixth)
    #expect(record.read() == .record(newest))
    // Only from a record that the user has reset.
    let lower = SeenRecord(checks: [next], state: made)
    try record.replace(by: lower, lettingGo: SeenRecord(checks: [next], state: fifth))
    #expect(record.read() == .record(newest))
    try record.replace(by: lower, lettingGo: newest)
    #expect(record.read() == .record(lower))
    let other = SeenRecord(checks: [Data(repeating: 2, count: 16)], state: made)
    try record.replace(by: other)
    #expect(record.read() == .record(other))
  }

  private func state(_ counter: UInt64) -> SeenState {
    SeenState(counter: counter, boxHash: Data(repeating: UInt8(counter), count: 32))
  }

  @Test func forgedVersionDoesNotSetCounter() throws {
    let vault = try TestVault()
    try vault.handle(passphrase: "one").put("a", "secret")
    try execute(vault, "UPDATE item SET version = \(Int64.max)")
    #expect(try !vault.handle().verify().isIntact)
    try vault.handle().acceptRestored { _ throws(KeychainError) in true }
    let handle = vault.handle(passphrase: "one")
    #expect(try handle.put("b", "new").version < 10)
    #expect(try handle.text("b") == "new")
  }

  @Test func damagedRowIsNamedAndOthersListed() throws {
    let vault = try TestVault()
    for name in ["a", "b", "c"] { try vault.handle().put(name) }
    try execute(vault, "UPDATE item SET class = 99 WHERE id = (SELECT min(id) FROM item)")
    let found = try vault.handle().search(CredentialQuery())
    #expect(found.credentials.count == 2)
    #expect(found.damaged.count == 1)
    let messages = ["a", "b", "c"].compactMap { name in
      do { _ = try vault.handle().text(name) } catch { return "\(name): \(error)" }
      return nil
    }
    #expect(messages.count == 1)
    #expect(try #require(messages.first).contains(": '\(messages[0].prefix(1))' of service"))
    let report = try vault.handle().verify()
    #expect(report.openedCount == 2)
    #expect(report.problems.contains { $0.hasPrefix(found.damaged[0]) })
    let status = try vault.handle().status()
    #expect(status.itemCount == 3 && status.damagedItemCount == 1)
  }

  @Test func failedWriteKeepsDeviceSecretLost() throws {
    let vault = try TestVault()
    try vault.handle().put("a")
    try FileManager.default.removeItem(atPath: vault.deviceSecretPath)
    let error = #expect(throws: KeychainError.self) {
      try vault.handle().put("b", "secret", .alwaysThisDeviceOnly)
    }
    #expect(error?.code == .locked)
    #expect(!FileManager.default.fileExists(atPath: vault.deviceSecretPath))
  }

  @Test func vaultRefusesUseWithinItsOwnTransaction() throws {
    let vault = try TestVault()
    let handle = vault.handle()
    try handle.put("a")
    let inner = Mutex<KeychainError.Code?>(nil)
    let report = try handle.verify { _ in
      do { _ = try handle.text("a") } catch {
        inner.withLock { $0 = (error as? KeychainError)?.code }
      }
    }
    #expect(report.isIntact)
    #expect(inner.withLock { $0 } == .refused)
    #expect(try handle.text("a") == "s3cret")
  }

  @Test func aStateThatCannotBeIsDamage() throws {
    let keys = try TierKeys(root: RootKey.random())
    var states = [StateRow](repeating: .empty, count: 3)
    states[0].counter = StateRow.maximumCounter + 1
    states[1].itemCount = .max
    states[2].slotCount = .max
    for state in states {
      let box = try state.sealed(under: keys.open.bytes)
      #expect(throws: KeychainError.self) { try StateRow.open(box, under: keys.open.bytes) }
    }
    var last = StateRow.empty
    last.counter = StateRow.maximumCounter
    let box = try last.sealed(under: keys.open.bytes)
    #expect(try StateRow.open(box, under: keys.open.bytes) == last)
  }

  /// Changes a vault without using the library.
  private func execute(_ vault: TestVault, _ sql: String) throws {
    let python = Process()
    python.executableURL = URL(filePath: "/usr/bin/env")
    python.arguments = [
      "python3", "-c",
      "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()",
      vault.path, sql,
    ]
    try python.run()
    python.waitUntilExit()
    try #require(python.terminationStatus == 0)
  }

  @Test func manyThatMakeOneVaultAtOnceAgree() async throws {
    for _ in 0..<10 {
      let vault = try TestVault()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
          group.addTask { _ = try vault.handle().put("\(number)") }
        }
        try await group.waitForAll()
      }
      #expect(try vault.handle().search(CredentialQuery()).credentials.count == 8)
    }
  }
}
