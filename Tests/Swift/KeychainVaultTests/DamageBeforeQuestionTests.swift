import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesFiles
import Testing

@testable import KeychainVault

/// Nobody types a passphrase, or copies a code, for a vault whose slots cannot be changed.
@Suite("Damage is found before a person is asked")
struct DamageBeforeQuestionTests {
  private let vault: TestVault

  /// A vault of which an item is hidden.
  init() throws {
    vault = try TestVault()
    let handle = vault.handle(passphrase: "one")
    for name in ["a", "b"] { try handle.put(name) }
    let keys = try handle.administration().keys
    let id = try ItemSealing(keys: keys, device: nil).id(of: .test("b"))
    try handle.existingSession().opened.storage.write(Deadline(after: .seconds(60))) {
      rows throws(KeychainError) in try rows.removeItem(id)
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
