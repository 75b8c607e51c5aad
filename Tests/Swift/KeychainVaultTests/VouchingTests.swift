import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultFormat
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// Who says that an administration key is the vault's, to somebody whose secret is of an earlier one.
@Suite("Slots of an earlier administration key")
struct VouchingTests {
  private let vault: TestVault
  private let check: VaultCheck

  /// A machine with the same device key, which has not seen the vault.
  private let elsewhere: TestVault

  /// Creates a vault with slots 1 device, 2 and 3 passphrases "one" and "two", of which the latter was not presented when the
  /// administration key changed.
  init() throws {
    vault = try TestVault()
    let handle = vault.handle(passphrase: "one")
    try handle.put("a", "secret")
    try handle.put("open", "x", .always)
    try handle.addPassphraseSlot(SecretBytes(copying: "two"))
    check = try handle.rekey(newAdministrationKey: true) { _ in true }.check
    elsewhere = try TestVault()
    let folder = elsewhere.folder.path + "/state/keychain"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(
      atPath: vault.deviceSecretPath, toPath: elsewhere.deviceSecretPath)
  }

  private func theirs(_ passphrase: String?) -> Vault {
    let path = vault.path
    guard let passphrase else { return elsewhere.handle { $0.path = path } }
    return elsewhere.handle(passphrase: passphrase) { $0.path = path }
  }

  private func expectRefusal(by handle: Vault? = nil) {
    let error = failure { _ = try (handle ?? theirs("two")).text("a") }
    #expect(error?.code == .rolledBack)
    #expect(error?.recovery?.actions.contains(.giveCheck(check.description)) == true)
  }

  @Test func presentedSecretOpensOnFirstUse() throws {
    #expect(try theirs("one").text("a") == "secret")
    // A user who opened the vault in this way has vouched for it.
    #expect(try theirs("two").text("a") == "secret")
  }

  @Test func otherSecretNeedsTheCheckOnFirstUse() throws {
    expectRefusal()
    let handle = theirs("two")
    let wrong = handle.trusting(
      try #require(VaultCheck(text: String(repeating: "a", count: 32))))
    #expect(failure { _ = try wrong.text("a") }?.code == .rolledBack)
    let told = handle.trusting(check)
    // Other holders of the first handle have compared nothing.
    expectRefusal(by: handle)
    #expect(try told.text("a") == "secret")
    #expect(try theirs("two").text("a") == "secret")
  }

  /// A thief of the device key can put a vault of their own in place, and T0 opens that.
  @Test func recordOfTheDeviceKeyAloneDoesNotVouch() throws {
    #expect(try theirs(nil).text("open") == "x")
    expectRefusal()
    #expect(try theirs("one").text("a") == "secret")
    #expect(try theirs("two").text("a") == "secret")
  }

  @Test func witnessOfTheChangeFollows() throws {
    #expect(try vault.handle(passphrase: "two").text("a") == "secret")
  }

  /// The next change of members with this secret makes its slot one of the present key.
  @Test func secretThatIsPresentedInAChangeOpensAgain() throws {
    let code = try vault.addRecoveryCode(passphrase: "two")
    #expect(try theirs("two").text("a") == "secret")
    let third = try TestVault()
    let path = vault.path
    #expect(try third.handle(recoveryCode: code) { $0.path = path }.text("a") == "secret")
  }

  /// An administrator who was removed can make a vault with their own administration key, whose slots are those of the others.
  @Test func rivalVaultOpensForNobodyElse() throws {
    let rival = try vault.copy(to: "rival.db")
    let thief = try TestVault()
    try thief.handle(passphrase: "one") { $0.path = rival }.put("a", "planted")
    try thief.handle(passphrase: "one") { $0.path = rival }.rekey(newAdministrationKey: true) { _ in
      true
    }
    // Seen before: refused; not seen before: it needs the check, which people compare.
    #expect(try vault.handle(passphrase: "two").text("a") == "secret")
    try vault.restore(rival)
    #expect(failure { _ = try vault.handle(passphrase: "two").text("a") }?.code == .rolledBack)
    let error = failure { _ = try theirs("two").text("a") }
    #expect(error?.code == .rolledBack)
    let told = theirs("two").trusting(check)
    #expect(failure { _ = try told.text("a") }?.code == .rolledBack)
  }
}
