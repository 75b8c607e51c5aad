import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// Vaults that were written once and must always be readable; see Tests/Data/Fixtures/README.md.
@Suite("Vaults of earlier releases and other writers")
struct FixtureTests {
  struct Expected: Decodable {
    struct Item: Decodable {
      let accessibility: String
      let version: UInt64
      let status: String
      let kind: Int?
      let group: String?
      let service: String?
      let account: String?
      let server: String?
      let `protocol`: String?
      let port: UInt16?
      let path: String?
      let domain: String?
      let authentication: String?
      let label: String?
      let comment: String?
      let contentType: String?
      let created: Int64?
      let expires: Int64?
      let attributes: [[String]]?
      let secret: Data?

      enum CodingKeys: String, CodingKey {
        case accessibility, version, status, kind, service, account, server, `protocol`, port, path
        case label, comment, created, expires, attributes, secret
        case group = "access-group"
        case domain = "security-domain"
        case authentication = "authentication-type"
        case contentType = "content-type"
      }

      var identity: CredentialIdentity {
        let group = group ?? ""
        if kind == 0 {
          return .genericPassword(
            service: service ?? "", account: account ?? "", accessGroup: group)
        }
        return CredentialIdentity(
          .internetPassword(
            InternetPassword(
              server: server ?? "", protocol: self.protocol ?? "", port: port ?? 0,
              path: path ?? "", account: account ?? "", securityDomain: domain ?? "",
              authenticationType: authentication ?? "")), accessGroup: group)
      }
    }

    let number: UInt64
    let witness: String
    let check: String
    let items: [Item]
  }

  private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Data/Fixtures")

  /// Returns a copy of a fixture, as a user of its machine has it.
  private func vault(_ name: String) throws -> TestVault {
    let vault = try TestVault()
    for folder in ["data/keychain", "state/keychain"] {
      try FileManager.default.createDirectory(
        at: vault.folder.appending(path: folder), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    }
    try copy("\(name).vault", to: vault.path)
    try copy("test-device.key", to: vault.deviceSecretPath)
    try copy("test-key-file", to: vault.folder.path + "/key-file")
    try copy("test-passphrase", to: vault.folder.path + "/passphrase")
    return vault
  }

  private func copy(_ name: String, to path: String) throws {
    try Data(contentsOf: Self.fixtures.appending(path: name)).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  private func expected(_ name: String) throws -> Expected {
    try JSONDecoder().decode(
      Expected.self,
      from: Data(contentsOf: Self.fixtures.appending(path: "\(name).expected.json")))
  }

  /// Returns a handle with an explicit key or passphrase: copies of one vault share their keys, so
  /// none of these may enter the kernel's cache.
  private func handle(_ vault: TestVault, _ file: String) -> Vault {
    let path = vault.folder.path + "/" + file
    return vault.handle {
      $0.unlock =
        file == "passphrase"
        ? .passphraseFile(path, named: "the test") : .keyFile(path, named: "the test")
    }
  }

  private static let names = ["format3-python"]

  @Test(arguments: names, ["key-file", "passphrase"])
  func isReadWhole(_ name: String, _ file: String) throws {
    let vault = try vault(name)
    let handle = handle(vault, file)
    let expected = try expected(name)
    var found = 0
    for item in expected.items where item.status == "open" {
      let stored = try handle.secret(for: item.identity)
      switch stored {
      case .none: Issue.record("\(item.identity) is missing")
      case .some(let stored):
        found += 1
        check(stored.credential, item)
        #expect(Data(stored.secret.withBytes { $0.array }) == item.secret)
      }
    }
    #expect(found > 10)
    let all = try handle.search(CredentialQuery())
    #expect(all.credentials.count == found)
    #expect(all.otherDeviceCount == expected.items.count - found)
    #expect(all.lockedCount == 0 && all.damaged == [])
    let report = try handle.verify()
    #expect(report.problems == [])
    #expect(report.openedCount == found)
    let status = try handle.status()
    #expect(status.counter == expected.number && status.witness == expected.witness)
    #expect(status.check?.description == expected.check)
  }

  @Test(arguments: names)
  func theDeviceAloneReadsTheOpenTier(_ name: String) throws {
    let vault = try vault(name)
    for item in try expected(name).items where item.status == "open" {
      let outcome = Result { try vault.handle().secret(for: item.identity) != nil }
      let isOpen = item.accessibility.hasPrefix("always")
      #expect((try? outcome.get()) == (isOpen ? true : nil))
    }
  }

  @Test(arguments: names)
  func writingGoesOn(_ name: String) throws {
    let vault = try vault(name)
    let handle = handle(vault, "key-file")
    try handle.put("new", "secret")
    #expect(try handle.text("new") == "secret")
    #expect(try handle.verify().problems == [])
  }

  private func check(_ credential: Credential, _ item: Expected.Item) {
    #expect("\(credential.accessibility)" == item.accessibility)
    #expect(credential.version == item.version)
    #expect(credential.label == item.label)
    #expect(credential.comment == item.comment)
    #expect(credential.contentType == item.contentType)
    #expect(credential.created.microseconds == item.created)
    #expect(credential.expires?.microseconds == item.expires)
    let pairs = credential.attributes.map { [$0.name, $0.value] }
    #expect(pairs == item.attributes)
  }
}
