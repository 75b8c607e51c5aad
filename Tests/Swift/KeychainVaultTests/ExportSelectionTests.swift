import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

@Suite("Exports of some services, and looks without unlocking")
struct ExportSelectionTests {
  @Test func matchingItemsAreExported() throws {
    let (one, other) = (try TestVault(), try TestVault())
    let vault = one.handle()
    try Self.fill(vault)
    let path = one.folder.path + "/x.export"
    let report = try vault.export(
      to: path, passphrase: ExportSupport.passphrase(),
      matching: [CredentialQuery(service: "a"), CredentialQuery(server: "h")])
    #expect(report == .init(itemCount: 3, leftOutCount: 1))
    _ = try other.handle().importItems(from: path, passphrase: ExportSupport.passphrase())
    let names = try other.handle().search(CredentialQuery()).credentials.map(\.identity.account)
    #expect(Set(names) == ["of server", "one", "two"])
  }

  @Test func conditionsOfASearchHoldTogether() throws {
    let test = try TestVault()
    let vault = test.handle()
    try Self.fill(vault)
    #expect(try Self.count(vault, [CredentialQuery(accessGroup: "g", service: "a")]) == 1)
    #expect(try Self.count(vault, [CredentialQuery(service: "a", account: "other")]) == 0)
    #expect(try Self.count(vault, [CredentialQuery()]) == 5)
    #expect(try Self.count(vault, []) == 0)
    #expect(try Self.count(vault, nil) == 5)
  }

  @Test func onlyWhatIsExportedMustBeReadable() throws {
    let test = try TestVault()
    let owner = test.handle(passphrase: TestVault.passphrase)
    try owner.create(
      passphrase: SecretBytes(copying: TestVault.passphrase), keyFile: nil, device: true)
    try owner.set(Self.credential("open", "a", .always), secret: SecretBytes(copying: "1"))
    try owner.set(
      Self.credential("closed", "b", .whenUnlocked), secret: SecretBytes(copying: "2"))
    try owner.lock(all: true)
    let locked = test.handle()
    let report = try locked.export(
      to: test.folder.path + "/a.export", passphrase: ExportSupport.passphrase(),
      matching: [CredentialQuery(service: "a")])
    #expect(report == .init(itemCount: 1, leftOutCount: 0))
    let error = #expect(throws: KeychainError.self) {
      _ = try locked.export(
        to: test.folder.path + "/b.export", passphrase: ExportSupport.passphrase(),
        matching: [CredentialQuery(service: "b")])
    }
    #expect(error?.code == .locked)
  }

  @Test func glanceSeesReadableItemsWithoutAsking() throws {
    let test = try TestVault()
    let owner = test.handle(passphrase: TestVault.passphrase)
    try owner.create(
      passphrase: SecretBytes(copying: TestVault.passphrase), keyFile: nil, device: true)
    try owner.set(Self.credential("open", "a", .always), secret: SecretBytes(copying: "1"))
    try owner.set(
      Self.credential("closed", "a", .whenUnlocked), secret: SecretBytes(copying: "2"))
    try owner.lock(all: true)
    let locked = test.handle {
      $0.interaction = .allowed { _ throws(KeychainError) in
        Issue.record("somebody was asked")
        throw KeychainError(.cancelled, "asked")
      }
    }
    let found = try #require(try locked.glance(CredentialQuery(), within: .seconds(60)))
    #expect(found.credentials.map(\.identity.account) == ["open"] && found.lockedCount == 1)
    let hint = try #require(
      try locked.glance(CredentialQuery(service: "a"), within: .seconds(60)))
    #expect(hint.credentials.count == 1 && hint.lockedCount == 1)
    // Without the device key the contents are unknown; the vault must not look empty.
    try FileManager.default.removeItem(atPath: test.deviceSecretPath)
    #expect(try test.handle().glance(CredentialQuery(), within: .seconds(60)) == nil)
  }

  @Test func absenceIsDescribed() throws {
    let test = try TestVault()
    let absence = try #require(try test.handle().absence())
    #expect(!absence.hasFolder && absence.path.hasSuffix("/data/keychain/vault"))
    try FileManager.default.createDirectory(
      atPath: absence.folder, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    #expect(try test.handle().absence()?.hasFolder == true)
    try test.handle().put("x")
    #expect(try test.handle().absence() == nil)
    try FileManager.default.removeItem(atPath: test.path)
    let error = #expect(throws: KeychainError.self) { try test.handle().absence() }
    #expect(error?.code == .noStore)
  }

  /// Stores three items of the service `a`, one of them bound to the device; one of a server; and
  /// one other.
  private static func fill(_ vault: Vault) throws {
    for credential in [
      credential("one", "a", .always), credential("two", "a", .whenUnlocked, group: "g"),
      credential("bound", "a", .whenUnlockedThisDeviceOnly), credential("other", "b", .always),
      Credential(
        CredentialIdentity(
          .internetPassword(InternetPassword(server: "h", account: "of server")))),
    ] {
      try vault.set(credential, secret: SecretBytes(copying: "secret"))
    }
  }

  private static func credential(
    _ account: String, _ service: String, _ accessibility: Accessibility, group: String = ""
  ) -> Credential {
    Credential(.test(account, service: service, group: group), accessibility: accessibility)
  }

  private static func count(_ vault: Vault, _ queries: [CredentialQuery]?) throws -> Int {
    try vault.itemCounts(matching: queries).values.reduce(0, +)
  }
}
