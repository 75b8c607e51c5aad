import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

@Suite("Test vectors of vault format 2")
struct VectorTests {
  @Test func thereAreVectors() {
    #expect(VectorCase.all.count > 600)
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
    let families = [
      notation, signing, vault, keys, items, metadata, padding, rows, slots, members, trees, state,
      files,
    ]
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

  private func signing() throws -> String?? {
    switch vector.operation {
    case "labelled hash":
      try Derivation.hash(vector.text("label"), vector.bytes("data")).hexadecimal
    case "opened sealed box": .some(try openedSealedBox())
    case "signing public key":
      try Signature.publicKey(of: vector.secret("seed")).hexadecimal
    case "signature":
      try Signing.sign(
        vector.bytes("message"), label: vector.text("label"), seed: vector.secret("seed")
      ).hexadecimal
    case "checked signature":
      try Signing.isRight(
        vector.data("signature"), of: vector.bytes("message"), label: vector.text("label"),
        publicKey: vector.data("publicKey")
      ) ? .some(vector.data("message").hexadecimal) : .some(nil)
    case "checked signing key":
      try Signature.isPublicKey(vector.bytes("publicKey"))
        ? .some(vector.data("publicKey").hexadecimal) : .some(nil)
    default: nil
    }
  }

  private func openedSealedBox() throws -> String? {
    let box = try vector.bytes("box")
    let key = try vector.secret("privateKey")
    do throws(SecretsError) {
      return try SealedBox.open(box.span.bytes, with: key).hexadecimal()
    } catch {
      #expect(error.code == .authenticationFailed)
      return nil
    }
  }

  private func vault() throws -> String?? {
    switch vector.operation {
    case "tier": try tierKeys().key(tier())?.bytes.hexadecimal()
    case "check": try VaultChecks.of(vector.secret("tierKey")).hexadecimal
    case "binding": try binding().bytes.hexadecimal
    case "vault check":
      try VaultCheck(id: id(), administration: vector.data("administration")).bytes.hexadecimal
    case "device id": try DeviceSecret(vector.secret("device")).inVault(id()).id.hexadecimal
    case "members box key": try openKey("pk2/members.box")
    case "state box key": try openKey("pk2/state.box")
    case "chain box key": try openKey("pk2/chain.box")
    case "administration box key":
      try Derivation.key(vector.secret("root"), "pk2/admin.box").hexadecimal()
    default: nil
    }
  }

  private func openKey(_ label: String) throws -> String {
    try Derivation.key(vector.secret("tier0"), label).hexadecimal()
  }

  func tier() throws -> Tier { try #require(Tier(rawValue: vector.number("tier"))) }

  func id() throws -> VaultID { try VaultID(bytes: vector.data("vault")) }

  func binding() throws -> KeyBinding {
    try KeyBinding(
      id: id(), epoch: vector.number("epoch"), administration: vector.data("administration"))
  }

  func tierKeys() throws -> TierKeys {
    try TierKeys(
      root: vector.secret("root"), id: id(), epoch: vector.number("epoch"),
      binding: KeyBinding(bytes: Data()))
  }

  private func keys() throws -> String?? {
    switch vector.operation {
    case "class key":
      try ClassKey.derive(
        from: vector.secret("tierKey"), accessibility(),
        device: vector.inputs.hex["device"] == nil
          ? nil : DeviceSecret(vector.secret("device")).inVault(VaultID(bytes: Data()))
      ).hexadecimal()
    case "group key":
      try GroupKey(classKey: vector.secret("classKey"), group: vector.text("group"))
        .key.bytes.hexadecimal()
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
      try sealing().tokens(of: credential(vector.bytes("metadata"))).hexadecimal
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
}
