import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault
@testable import KeychainVaultFormat

/// Content that no writer stores is reported as damage: a holder of the keys can write anything.
@Suite("Items that break the rules")
struct ItemRuleTests {
  private let vault: TestVault

  init() throws {
    vault = try TestVault()
    try vault.handle().put("good", "one")
  }

  @Test(arguments: [
    "", "access-group", "service", "account", "server", "protocol", "port", "path",
    "security-domain", "authentication-type", "username", "accessibility", "xdg:schema",
  ])
  func anAttributeHasAReservedName(_ name: String) throws {
    let bad = credential { $0.attributes[name] = "x" }
    #expect(throws: KeychainError.self) { try bad.checkRules(secretCount: 0) }
    try forge(bad)
    try expectDamage()
  }

  @Test func textsAreTooLong() throws {
    let limit = Credential.maximumMetadataCount
    let rest = limit - "test".utf8.count - "bad".utf8.count
    let most = credential { $0.comment = String(repeating: "x", count: rest) }
    try most.checkRules(secretCount: 0)
    try forge(most)
    #expect(try vault.handle().text("bad") == "x")
    #expect(try vault.handle().verify().isIntact)
    try vault.handle().remove(.test("bad"))
    let more = credential { $0.comment = String(repeating: "x", count: rest + 1) }
    #expect(throws: KeychainError.self) { try more.checkRules(secretCount: 0) }
    try forge(more)
    try expectDamage()
  }

  /// A port is not text.
  @Test func thePortDoesNotCount() throws {
    let limit = Credential.maximumMetadataCount
    for (excess, isRight) in [(0, true), (1, false)] {
      let server = String(repeating: "s", count: limit + excess)
      let identity = CredentialIdentity(
        .internetPassword(InternetPassword(server: server, port: 65535, account: "")))
      let stored = try? vault.handle().set(
        Credential(identity), secret: SecretBytes(copying: "x"))
      #expect((stored != nil) == isRight)
    }
    #expect(try vault.handle().verify().isIntact)
  }

  @Test(arguments: [(16 << 20, true), ((16 << 20) + 1, false), (18 << 20, false)])
  func aSecretIsTooLong(_ count: Int, _ isRight: Bool) throws {
    try forge(credential { _ in }, secret: SecretBytes(count: count) { _ in })
    if isRight {
      #expect(try vault.handle().secret(for: .test("bad"))?.secret.count == count)
    } else if count <= Credential.maximumSecretCount + 1 {
      let error = #expect(throws: KeychainError.self) { try vault.handle().text("bad") }
      #expect(error?.code == .damaged)
      #expect(try vault.handle().verify().problems.count == 1)
    } else {
      // No entry has so long a box, so this is no commit.
      #expect(try vault.handle().secret(for: .test("bad")) == nil)
      #expect(try vault.handle().verify().hasUnfinishedWrite)
      try vault.handle().put("good", "two")
      #expect(try !vault.handle().verify().hasUnfinishedWrite)
    }
  }

  /// It is not even opened: the limits are those of the longest possible text.
  @Test func theLongestBoxes() throws {
    let key = try SecretBytes.random(count: 32)
    for (limit, count) in [
      (MetadataCoding.maximumCount, 335_912), (Credential.maximumSecretCount, 17_301_544),
    ] {
      let most = try Sealing.sealPadded(SecretBytes(count: limit) { _ in }, with: key)
      #expect(most.count == count)
      #expect(try Sealing.openPadded(most, with: key, limit: limit) != nil)
      let more = try Sealing.sealPadded(SecretBytes(count: limit + 1) { _ in }, with: key)
      #expect(try Sealing.openPadded(more, with: key, limit: limit) == nil)
    }
  }

  private func credential(_ change: (inout Credential) -> Void) -> Credential {
    var credential = Credential(.test("bad"))
    change(&credential)
    return credential
  }

  private func forge(_ credential: Credential) throws {
    try forge(credential, secret: SecretBytes(copying: "x"))
  }

  /// Writes an item like a writer that ignores the rules.
  private func forge(_ credential: Credential, secret: borrowing SecretBytes) throws {
    let raw = try RawVault(vault, vault.handle())
    try raw.append(raw.keys) { writer throws(KeychainError) in
      var credential = credential
      credential.version = ItemEntry.newVersion()
      try writer.put(writer.sealing.seal(credential, secret: secret))
    }
  }

  private func expectDamage() throws {
    let error = #expect(throws: KeychainError.self) { try vault.handle().text("bad") }
    #expect(error?.code == .damaged)
    #expect(try vault.handle().text("good") == "one")
    #expect(try vault.handle().search(CredentialQuery()).damaged.count == 1)
    #expect(try vault.handle().verify().problems.count == 1)
  }
}
