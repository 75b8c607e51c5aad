import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Synchronization
import Testing

@testable import KeychainVault

/// Several changes in one step.
@Suite("Transactions")
struct TransactionTests {
  private struct Stop: Error {}

  private let vault: TestVault

  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "old")
    try vault.handle().put("b", "b")
  }

  @Test func manyChangesAreOneCommit() throws {
    let handle = vault.handle()
    let before = try commits()
    let kept = try handle.withTransaction { transaction in
      for number in 0..<300 { try transaction.put("k\(number)", "secret \(number)") }
      try transaction.put("a", "new")
      try transaction.merge(
        CredentialUpdate(label: .set("label")), secret: SecretBytes(copying: "merged"),
        into: .test("m"))
      try transaction.update(.test("m"), with: CredentialUpdate(comment: .set("comment")))
      try transaction.rename(.test("b"), to: .test("c"))
      let isRemoved = try transaction.remove(.test("k0"))
      let isAbsent = try !transaction.remove(.test("none"))
      return isRemoved && isAbsent
    }
    #expect(kept)
    #expect(try commits() == before + 1)
    let other = vault.handle()
    #expect(try other.text("k299") == "secret 299")
    #expect(try other.text("k0") == nil)
    #expect(try other.text("a") == "new")
    #expect(try other.text("b") == nil)
    #expect(try other.text("c") == "b")
    let merged = try #require(try other.credential(for: .test("m")))
    #expect(merged.label == "label")
    #expect(merged.comment == "comment")
    #expect(try other.verify().problems == [])
  }

  @Test func failingClosureUndoesAll() throws {
    let handle = vault.handle()
    let before = try Data(contentsOf: URL(filePath: vault.path))
    #expect(throws: Stop.self) {
      try handle.withTransaction { transaction in
        try transaction.put("a", "new")
        try transaction.remove(.test("b"))
        throw Stop()
      }
    }
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
    #expect(try handle.text("a") == "old")
    try handle.put("a", "newer")
    #expect(try vault.handle().verify().problems == [])
  }

  @Test func transactionWithoutChangesWritesNothing() throws {
    let before = try Data(contentsOf: URL(filePath: vault.path))
    try vault.handle().withTransaction { transaction in
      let text = try transaction.text("a")
      #expect(text == "old")
      let isRemoved = try transaction.remove(.test("none"))
      #expect(!isRemoved)
    }
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
  }

  @Test func readsSeeTheTransactionAndOthersDoNot() throws {
    try vault.handle().withTransaction { transaction in
      try transaction.put("a", "new")
      try transaction.put("n", "n")
      try transaction.remove(.test("b"))
      let text = try transaction.text("a")
      #expect(text == "new")
      let removed = try transaction.credential(for: .test("b"))
      #expect(removed == nil)
      let found = try transaction.search(CredentialQuery(service: "test"))
      #expect(found.credentials.map(\.identity) == [.test("a"), .test("n")])
      #expect(found.damaged.isEmpty)
      let other = vault.handle()
      #expect(try other.text("a") == "old")
      #expect(try other.search(CredentialQuery()).credentials.count == 2)
      // A change after a search.
      try transaction.put("o", "o")
    }
    #expect(try vault.handle().search(CredentialQuery()).credentials.count == 3)
    #expect(try vault.handle().verify().problems == [])
  }

  @Test func harmlessFailureLetsItGoOn() throws {
    try vault.handle().withTransaction { transaction in
      var codes: [KeychainError.Code] = []
      do throws(KeychainError) {
        try transaction.rename(.test("a"), to: .test("b"))
      } catch {
        codes.append(error.code)
      }
      do throws(KeychainError) {
        try transaction.update(.test("a"), with: CredentialUpdate(), expectedVersion: 17)
      } catch {
        codes.append(error.code)
      }
      #expect(codes == [.alreadyExists, .versionConflict])
      try transaction.put("n", "n")
    }
    #expect(try vault.handle().text("a") == "old")
    #expect(try vault.handle().text("n") == "n")
  }

  @Test func failedChangeThatIsCaughtUndoesAll() throws {
    let error = #expect(throws: KeychainError.self) {
      try vault.handle().withTransaction { transaction in
        try transaction.put("n", "n")
        // The vault has no passphrase.
        _ = try? transaction.put("p", "p", .whenPasscodeSetThisDeviceOnly)
        _ = try? transaction.put("o", "o")
      }
    }
    #expect(error?.code == .refused)
    #expect(try vault.handle().search(CredentialQuery()).credentials.count == 2)
  }

  @Test func otherWritesWithinAreRefusedAtOnce() throws {
    let handle = vault.handle()
    let other = vault.handle()
    let start = ContinuousClock.now
    try handle.withTransaction { transaction in
      try transaction.put("n", "n")
      for call in [
        { try handle.put("o") }, { try other.put("o") }, { try handle.compact() },
        { try handle.withTransaction { _ in } }, { try other.withTransaction { _ in } },
      ] as [() throws -> Void] {
        let error = #expect(throws: KeychainError.self) { try call() }
        #expect(error?.code == .refused)
      }
      // Reads find what was there before.
      #expect(try handle.text("n") == nil && handle.text("a") == "old")
    }
    // The deadline of both handles is a minute.
    #expect(ContinuousClock.now - start < .seconds(50))
    #expect(try other.text("n") == "n")
    #expect(try other.text("o") == nil)
  }

  @Test func writesOfOtherThreadsWaitAndReadsDoNot() throws {
    let handle = vault.handle { $0.deadline = .milliseconds(50) }
    let code = Mutex<KeychainError.Code?>(nil)
    let found = Mutex<String?>(nil)
    try handle.withTransaction { transaction in
      try transaction.put("n", "n")
      let ended = DispatchSemaphore(value: 0)
      Thread {
        do {
          let text = try handle.text("a")
          found.withLock { $0 = text }
          try handle.put("o")
        } catch {
          code.withLock { $0 = (error as? KeychainError)?.code }
        }
        ended.signal()
      }.start()
      ended.wait()
    }
    #expect(found.withLock { $0 } == "old")
    #expect(code.withLock { $0 } == .busy)
    // The closure took longer than the deadline, and does not count.
    #expect(try handle.text("n") == "n")
  }

  @Test func observersAreNotifiedAfterwards() async throws {
    let handle = vault.handle()
    let recorder = ChangeRecorder(handle)
    try handle.withTransaction { transaction in
      try transaction.put("n", "n")
      try transaction.put("a", "new")
      try transaction.rename(.test("b"), to: .test("c"))
      #expect(recorder.changes.isEmpty)
    }
    #expect(
      try await recorder.waited(for: 4)
        == [.added("n"), .updated("a"), .removed("b"), .added("c")])
    #expect(throws: Stop.self) {
      try handle.withTransaction { transaction in
        try transaction.put("x", "x")
        throw Stop()
      }
    }
    #expect(try await recorder.waited(for: 4).count == 4)
    recorder.stop()
  }

  @Test func vaultIsCreated() throws {
    let new = try TestVault()
    try new.handle().withTransaction { transaction in
      try transaction.put("a", "a", .alwaysThisDeviceOnly)
    }
    #expect(try new.handle().text("a") == "a")
  }
}

extension VaultTransaction {
  @discardableResult
  mutating func put(
    _ account: String, _ secret: String, _ accessibility: Accessibility = .whenUnlocked,
    mode: StoreMode = .addOrReplace
  ) throws -> Credential {
    try set(
      Credential(.test(account), accessibility: accessibility),
      secret: SecretBytes(copying: secret), mode: mode)
  }

  mutating func text(_ account: String) throws -> String? {
    guard let stored = try secret(for: .test(account)) else { return nil }
    return stored.secret.withBytes { bytes in
      String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
    }
  }
}

extension TransactionTests {
  /// The number of the newest commit.
  private func commits() throws -> UInt64 { try #require(try vault.handle().status().counter) }
}
