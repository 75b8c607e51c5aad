import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesFiles
import Testing

@testable import KeychainVault

/// Users are not asked for a passphrase or code if the vault's slots cannot be changed anyway.
@Suite("Damage is found before a person is asked")
struct DamageBeforeQuestionTests {
  private let vault: TestVault

  /// Creates a vault with a hidden item.
  init() throws {
    vault = try TestVault()
    let handle = vault.handle(passphrase: "one")
    for name in ["a", "b"] { try handle.put(name) }
    let keys = try handle.administration().keys
    let id = try ItemSealing(keys: keys, device: nil).id(of: .test("b"))
    try handle.existingSession().opened.storage.write(Deadline(after: .seconds(60))) {
      rows throws(KeychainError) in try rows.removeItem(id, tokens: [])
    }
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
