import KeychainCredentials
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Synchronization
import Testing

/// Calls that hold a lock of others: what they would ask or hash is returned instead.
@Suite("Vaults that neither ask nor hash")
final class QuietVaultTests: Sendable {
  private let vault: TestVault
  private let questions = Mutex(0)

  init() throws {
    vault = try TestVault()
    let handle = vault.handle(passphrase: TestVault.passphrase)
    try handle.put("open", "open", .always)
    try handle.put("closed", "closed")
    try handle.lock(all: true)
  }

  /// Returns a handle that asks a person, and keeps no keys.
  private func asking() -> Vault {
    vault.handle {
      $0.idleTime = .zero
      $0.interaction = .allowed { [self] _ throws(KeychainError) in
        questions.withLock { $0 += 1 }
        return try? SecretBytes(copying: TestVault.passphrase)
      }
    }
  }

  private func read(_ store: any CredentialStore, _ account: String) throws(KeychainError)
    -> String?
  {
    try store.secret(for: .test(account))?.secret.withBytes { $0.text }
  }

  @Test func whatIsNeededIsReturned() throws {
    let store = asking().quiet()
    guard case .done("open") = try Attempt({ () throws(KeychainError) in try read(store, "open") })
    else { throw KeychainError(.internalFailure, "what needs nothing was not done") }
    for _ in 0..<2 {
      guard
        case .needs = try Attempt({ () throws(KeychainError) in try read(store, "closed") })
      else { throw KeychainError(.internalFailure, "what needs a passphrase was done") }
    }
    #expect(questions.withLock { $0 } == 0)
  }

  /// Also if the vault keeps none: the call does.
  @Test func whatIsMetIsNotNeededAgain() throws {
    let store = asking().quiet()
    let attempts = Mutex(0)
    let text = try Attempt.repeating { () throws(KeychainError) in
      attempts.withLock { $0 += 1 }
      return try Attempt { () throws(KeychainError) in
        try store.update(
          .test("closed"), with: CredentialUpdate(label: .set("l")), expectedVersion: nil)
        return try read(store, "closed")
      }
    }
    #expect(text == "closed")
    #expect(attempts.withLock { $0 } == 2)
    #expect(questions.withLock { $0 } == 1)
  }

  @Test func otherFailuresAreThrown() throws {
    let store = vault.handle().quiet()
    let error = #expect(throws: KeychainError.self) {
      try Attempt.repeating { () throws(KeychainError) in
        try Attempt { () throws(KeychainError) in try read(store, "closed") }
      }
    }
    #expect(error?.code == .locked)
    let refused = #expect(throws: KeychainError.self) {
      try Attempt { () throws(KeychainError) in
        try store.rename(.test("open"), to: .test("none"), expectedVersion: 1)
      }
    }
    #expect(refused?.code == .versionConflict)
  }

  @Test func itIsTriedAtMostEightTimes() {
    let attempts = Mutex(0)
    let error = #expect(throws: KeychainError.self) {
      try Attempt<Void>.repeating { () throws(KeychainError) in
        attempts.withLock { $0 += 1 }
        return .needs(Need {})
      }
    }
    #expect(error?.code == .busy)
    #expect(attempts.withLock { $0 } == 8)
  }
}

/// A search whose secrets are opened without looking them up again.
@Suite("Secrets of a search")
struct FoundCredentialTests {
  @Test func theyAreThoseOfItsMoment() throws {
    let vault = try TestVault()
    let handle = vault.handle()
    try handle.put("a", "old")
    try handle.put("b", "kept")
    let found = try handle.find(CredentialQuery())
    try vault.handle().put("a", "new")
    try vault.handle().remove(.test("b"))
    let texts = try found.result.credentials.map { credential in
      try found.secret(credential)?.secret.withBytes { $0.text }
    }
    #expect(Set(texts) == ["old", "kept"])
    #expect(try handle.find(CredentialQuery()).result.credentials.count == 1)
    #expect(try found.secret(Credential(.test("none"))) == nil)
  }
}
