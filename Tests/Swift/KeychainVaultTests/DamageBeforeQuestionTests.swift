import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesSystem
import Testing

@testable import KeychainVault

/// Users are not asked for a passphrase or code if the vault's slots cannot be changed anyway.
@Suite("Damage is found before a person is asked")
struct DamageBeforeQuestionTests {
  private let vault: TestVault

  /// Creates a vault with a damaged page.
  init() throws {
    vault = try TestVault()
    let handle = vault.handle(passphrase: "one")
    for name in ["a", "b"] { try handle.put(name) }
    try handle.compact()
    let contents = try RawVault(vault, handle).contents
    let page = try #require(contents.index.pages[Int(Tier.unlocked.rawValue)].first)
    try vault.damage(at: page.place + 50)
  }

  @Test func noRecoveryCodeIsShown() {
    let error = #expect(throws: KeychainError.self) {
      try vault.handle(passphrase: "one").addRecoveryCodeSlot { _ in
        Issue.record("the code was shown")
        return true
      }
    }
    #expect(error?.code == .damaged)
  }

  @Test func noPassphraseIsAskedFor() {
    let error = #expect(throws: KeychainError.self) {
      try vault.handle(passphrase: "one").changePassphrase { _ throws(KeychainError) in
        Issue.record("a passphrase was asked for")
        throw KeychainError(.cancelled, "no answer")
      }
    }
    #expect(error?.code == .damaged)
  }
}
