import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

extension VectorRun {
  func items() throws -> String?? {
    switch vector.operation {
    case "identity": try MetadataCoding.identityFields(identity()).hexadecimal
    case "metadata": .some(try writtenMetadata())
    case "decoded metadata": .some(try reencoded(vector.bytes("metadata")))
    case "entry": try fields(entry().write(to:))
    case "secret box": try sealedSecret()
    case "opened secret": .some(try openedSecret())
    default: nil
    }
  }

  func parts() throws -> String?? {
    switch vector.operation {
    case "inner": try sealedInner()
    case "opened inner": .some(try openedInner())
    case "part": try madePart()
    case "decoded part": .some(try part(vector.bytes("part"), tier()).map { fields($0.write) })
    default: nil
    }
  }

  func fields(_ write: (inout FieldWriter) -> Void) -> String {
    FieldWriter.fields(write).hexadecimal
  }

  private func itemKey() throws -> SecretBytes {
    try ItemSealing.key(
      of: itemID(), version: vector.number("version"), classKey: classKey().bytes)
  }

  private func entry() throws -> ItemEntry {
    let (service, hash) = (try vector.data("service"), try vector.data("boxHash"))
    return try ItemEntry(
      id: itemID(), accessibility: accessibility(),
      device: vector.inputs.hex["device"] == nil ? nil : vector.data("device"),
      version: vector.number("version"), boxCount: vector.number("boxCount"),
      boxHash: Bytes32(hash.bytes), service: service.bytes.littleEndian(at: 0, as: UInt64.self))
  }

  private func namesKey() throws -> SharedSecret {
    try #require(try openKeys("tierKey").namesKey(.open))
  }

  private func sealedSecret() throws -> String {
    let padded = try Padding.pad(vector.secret("secret"))
    let key = try itemKey()
    return try SecretBox.seal(padded, with: key, nonce: vector.bytes("nonce")).hexadecimal
  }

  private func openedSecret() throws -> String? {
    let key = try itemKey()
    let (box, limit) = (try vector.data("box"), Credential.maximumSecretCount)
    let secret = try Sealing.openPadded(box, with: key, limit: limit)
    return secret?.hexadecimal()
  }

  private func sealedInner() throws -> String {
    let metadata = try vector.numbered("metadata")
    guard !metadata.isEmpty else { return "" }
    let plain = FieldWriter.fields { for item in metadata { $0.byteString(item) } }
    let padded = try SecretBytes(copying: Sealing.padded(fields: plain).span.bytes)
    let key = try namesKey()
    return try SecretBox.seal(padded, with: key.bytes, nonce: vector.bytes("nonce")).hexadecimal
  }

  private func openedInner() throws -> String? {
    let count: Int = try vector.number("count")
    let opened = try PartMetadata(vector.data("inner"), count: count, with: namesKey())
    guard let opened else { return nil }
    return (0..<count).map { index in
      FieldWriter.fields { $0.byteString(opened.copy(at: index)) }.hexadecimal
    }.joined()
  }

  /// Writes a part of changes that are encoded already, by reading and writing it again.
  private func madePart() throws -> String? {
    let changes = try vector.numbered("change")
    var bytes = FieldWriter.fields { $0.integer(UInt32(changes.count)) }
    for change in changes { bytes += change }
    let inner = try vector.data("inner")
    bytes += FieldWriter.fields { $0.byteString(inner) }
    let parts = Tier.allCases.compactMap { part(bytes, $0) }
    return parts.first.map { fields($0.write) }
  }

  func part(_ bytes: [UInt8], _ tier: Tier) -> Part? {
    var reader = FieldReader()
    guard let part = try? Part(&reader, bytes.span.bytes, tier: tier),
      (try? reader.end(bytes.span.bytes)) != nil
    else { return nil }
    #expect(part.count == bytes.count)
    return part
  }

  private func identity() throws -> CredentialIdentity {
    let group = try vector.text("group")
    if try vector.number("kind") == 0 {
      return try .genericPassword(
        service: vector.text("service"), account: vector.text("account"), accessGroup: group)
    }
    return try CredentialIdentity(
      .internetPassword(
        InternetPassword(
          server: vector.text("server"), protocol: vector.text("protocol"),
          port: vector.number("port"), path: vector.text("path"), account: vector.text("account"),
          securityDomain: vector.text("securityDomain"),
          authenticationType: vector.text("authenticationType"))), accessGroup: group)
  }

  /// Returns the identity in the bytes, which are metadata without other fields.
  func decodedIdentity(_ bytes: [UInt8]) throws -> CredentialIdentity {
    let rest = [UInt8](repeating: 0, count: 3 + 8 + 8 + 1 + 4)
    let credential = try decoded(bytes + rest)
    return try #require(credential).identity
  }

  /// Decodes metadata as a part of one item has it.
  private func decoded(_ bytes: [UInt8]) throws -> Credential? {
    let key = SharedSecret(try SecretBytes(copying: [UInt8](repeating: 1, count: 32).span.bytes))
    let inner = try PartMetadata.seal([bytes], with: key)
    let zeros = Bytes32(Data(count: 32).bytes)
    let entry = ItemEntry(
      id: ItemID(zeros), accessibility: .always, device: nil,
      version: 1, boxCount: 0, boxHash: zeros, service: 0)
    return try PartMetadata(inner, count: 1, with: key)?.credential(at: 0, of: entry)
  }

  /// Reads and writes the expected text.
  ///
  /// The attributes of the vector cannot be read, because a Swift dictionary treats the composed and
  /// the decomposed form of a name as equal.
  private func writtenMetadata() throws -> String? {
    let expected = try #require(vector.expect)
    return try reencoded(Array(Data(hexadecimal: expected)))
  }

  private func reencoded(_ bytes: [UInt8]) throws -> String? {
    guard let credential = try decoded(bytes) else { return nil }
    return MetadataCoding.encode(credential).hexadecimal
  }
}
