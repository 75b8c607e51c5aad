import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesSystem
import Testing
import VaultVectors

@testable import KeychainVault

/// Helpers of the tests of exports.
enum ExportSupport {
  static func passphrase(_ text: String = "export") throws -> SecretBytes {
    try SecretBytes(copying: text)
  }

  /// Exports to a new file.
  static func export(_ vault: Vault, in test: TestVault, named name: String = "x.export") throws
    -> String
  {
    let path = test.folder.path + "/" + name
    _ = try vault.export(to: path, passphrase: passphrase())
    return path
  }

  /// Returns all fields of each item that an import must preserve.
  static func contents(of vault: Vault) throws -> [String] {
    try vault.search(CredentialQuery()).credentials.map { credential in
      let metadata = MetadataCoding.encode(credential).hexadecimal
      return "\(credential.accessibility) \(metadata) \(try digest(credential.identity, vault))"
    }
  }

  private static func digest(_ identity: CredentialIdentity, _ vault: Vault) throws -> String {
    switch try vault.secret(for: identity) {
    case .some(let stored): try Blake2b.key(hashing: stored.secret).hexadecimal()
    case .none: "absent"
    }
  }

  /// Returns the metadata of a credential in the form of an export.
  static func metadata(_ credential: Credential) -> [UInt8] { MetadataCoding.encode(credential) }

  /// Returns the key of an export that a test writes itself.
  static func key() throws -> ExportKey {
    let head = try ExportHead(parameters: .interactive)
    return try ExportKey(head, passphrase: passphrase())
  }

  /// An item, as a test describes it.
  struct Item {
    var accessibility: UInt8 = 0
    var metadata: [UInt8]
    var secret = Array("s3cret".utf8)

    init(_ account: String) throws {
      metadata = ExportSupport.metadata(Credential(.test(account)))
    }
  }

  /// Writes an export with the values of a test.
  static func forge(
    _ items: [Item], in test: TestVault, count: UInt64? = nil, trailing: [UInt8] = []
  ) throws -> String {
    let path = test.folder.path + "/\(UUID().uuidString).export"
    let file = try NewFile(path)
    let writer = try ExportWriter(key(), to: file.descriptor)
    try writer.append { fields in
      fields.integer(Int64(0))
      fields.integer(count ?? UInt64(items.count))
      fields.integer(UInt64(0))
      for item in items {
        fields.integer(item.accessibility)
        fields.byteString(item.metadata)
        fields.byteString(item.secret)
      }
      for byte in trailing { fields.integer(byte) }
    }
    try writer.finish()
    try file.publish()
    return path
  }

  /// Writes an export with this content, even if it is invalid.
  static func forge(content: [UInt8], in test: TestVault) throws -> String {
    let path = test.folder.path + "/\(UUID().uuidString).export"
    let file = try NewFile(path)
    let writer = try ExportWriter(key(), to: file.descriptor)
    try writer.append { fields in for byte in content { fields.integer(byte) } }
    try writer.finish()
    try file.publish()
    return path
  }

  /// Expects an import to fail without creating the vault.
  static func expectRefusal(
    of path: String, in test: TestVault, _ codes: Set<KeychainError.Code> = [.damaged],
    _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: KeychainError.self, comment, sourceLocation: sourceLocation) {
      _ = try test.handle().importItems(from: path, passphrase: passphrase())
    }
    #expect(
      error.map { codes.contains($0.code) } ?? false, "\(error as Any) \(comment as Any)",
      sourceLocation: sourceLocation)
    #expect(!FileManager.default.fileExists(atPath: test.path), sourceLocation: sourceLocation)
  }
}
