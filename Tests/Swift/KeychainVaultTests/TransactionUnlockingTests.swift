import KeychainCredentials
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Synchronization
import Testing

/// Transactions that need keys which are not at hand.
@Suite("Unlocking before a transaction")
final class TransactionUnlockingTests: Sendable {
  private let vault: TestVault
  private let runs = Mutex(0)
  private let questions = Mutex(0)

  init() throws {
    vault = try TestVault()
    let handle = vault.handle(passphrase: TestVault.passphrase)
    try handle.create(
      passphrase: SecretBytes(copying: TestVault.passphrase), keyFile: nil, device: true)
    try handle.put("open", "open", .always)
    try handle.put("closed", "closed")
    try handle.lock(all: true)
  }

  /// Returns a handle that asks a person.
  private func asking() -> Vault {
    vault.handle {
      $0.interaction = .allowed { [self] _ throws(KeychainError) in
        questions.withLock { $0 += 1 }
        return try SecretBytes(copying: TestVault.passphrase)
      }
    }
  }

  @Test func closureRunsAgainAfterUnlocking() throws {
    try asking().withTransaction { transaction in
      runs.withLock { $0 += 1 }
      try transaction.put("open", "new", .always)
      // Whatever the closure makes of the failure.
      _ = try? transaction.put("closed", "new")
    }
    #expect(runs.withLock { $0 } == 2)
    #expect(questions.withLock { $0 } == 1)
    #expect(try asking().text("closed") == "new")
    #expect(try asking().text("open") == "new")
    #expect(try asking().verify().problems == [])
  }

  @Test func closureRunsOnceIfUnlockedFirst() throws {
    let text = try asking().withTransaction(unlocking: .unlockedNow) { transaction in
      runs.withLock { $0 += 1 }
      try transaction.put("n", "n")
      return try transaction.text("closed")
    }
    #expect(text == "closed")
    #expect(runs.withLock { $0 } == 1)
    #expect(questions.withLock { $0 } == 1)
  }

  @Test func nothingIsChangedIfNothingUnlocks() throws {
    let handle = vault.handle()
    let error = #expect(throws: KeychainError.self) {
      try handle.withTransaction { transaction in
        try transaction.put("open", "new", .always)
        try transaction.put("closed", "new")
      }
    }
    #expect(error?.code == .locked)
    #expect(error?.message.contains("begins again") == false)
    #expect(try handle.text("open") == "open")
    #expect(try handle.search(CredentialQuery()).credentials.count == 1)
  }

  @Test func deviceSecretIsMade() throws {
    let other = try TestVault()
    let passphrase = TestVault.passphrase
    try other.handle(passphrase: passphrase).create(
      passphrase: SecretBytes(copying: passphrase), keyFile: nil, device: false)
    try other.handle(passphrase: passphrase).withTransaction { transaction in
      try transaction.put("n", "n")
      try transaction.put("d", "d", .whenUnlockedThisDeviceOnly)
    }
    #expect(try other.handle(passphrase: passphrase).text("d") == "d")
    #expect(try other.handle(passphrase: passphrase).text("n") == "n")
  }
}
