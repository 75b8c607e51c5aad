import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

@Suite("Test vectors of vault format 3")
struct VectorTests {
  /// Whole vaults are for the reader of files.
  private static let all = VectorCase.load("format3").filter { $0.operation != "vault" }

  @Test func thereAreVectors() {
    #expect(Self.all.count > 400)
  }

  @Test(arguments: all)
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
      notation, signing, vault, keys, items, parts, padding, slots, slotKeys, members, successions,
      head, log, opened, base, files,
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
    do throws(KeychainError) {
      return try SealedBox.open(box.span.bytes, with: key).hexadecimal()
    } catch {
      #expect(error.code == .damaged)
      return nil
    }
  }

  private func vault() throws -> String?? {
    switch vector.operation {
    case "tier": try tierKeys().key(tier())?.bytes.hexadecimal()
    case "check": try TierKeys.check(of: vector.secret("tierKey")).hexadecimal
    case "binding": try headIdentity().binding.hexadecimal
    case "vault check":
      try HeadIdentity(id: id(), epoch: 1, administration: vector.data("administration")).check()
        .bytes.hexadecimal
    case "device id": try DeviceSecret(vector.secret("device")).inVault(id()).id.hexadecimal
    case "members box key": try openKeys().boxKey("pk3/members").bytes.hexadecimal()
    case "commit box key": try openKeys().boxKey("pk3/commit").bytes.hexadecimal()
    case "index box key": try openKeys().boxKey("pk3/index").bytes.hexadecimal()
    case "spine box key": try openKeys().boxKey("pk3/spine").bytes.hexadecimal()
    case "page box key": try openKeys().boxKey("pk3/page").bytes.hexadecimal()
    case "administration box key":
      try Derivation.key(vector.secret("root"), "pk3/admin").hexadecimal()
    default: nil
    }
  }

  /// Keys of which only T0 is right, or all three are one key.
  func openKeys(_ name: String = "tier0", all: Bool = false) throws -> TierKeys {
    let key = SharedSecret(try vector.secret(name))
    return TierKeys(
      binding: Data(),
      checks: [], open: key, first: all ? key : nil, unlocked: all ? key : nil)
  }

  func tier() throws -> Tier { try #require(Tier(rawValue: vector.number("tier"))) }

  func id() throws -> VaultID { try VaultID(bytes: vector.data("vault")) }

  func headIdentity() throws -> HeadIdentity {
    try HeadIdentity(
      id: id(), epoch: vector.number("epoch"),
      administration: vector.inputs.hex["administration"] == nil
        ? Data() : vector.data("administration"))
  }

  func tierKeys() throws -> TierKeys {
    try TierKeys(root: vector.secret("root"), of: headIdentity())
  }

  private func keys() throws -> String?? {
    switch vector.operation {
    case "names key":
      try openKeys("tierKey").namesKey(.open)?.bytes.hexadecimal()
    case "class key": try classKey().bytes.hexadecimal()
    case "item key":
      try ItemSealing.key(
        of: itemID(), version: vector.number("version"), classKey: vector.secret("classKey")
      ).hexadecimal()
    case "id":
      try ItemSealing(keys: openKeys(), device: nil)
        .id(of: decodedIdentity(vector.bytes("identity"))).data.hexadecimal
    case "service":
      try number(ItemSealing(keys: openKeys(), device: nil).service(vector.text("value")))
    case "witness": try Commit.witness(vector.data("digest")).utf8.hexadecimal
    default: nil
    }
  }

  private func number(_ value: UInt64) -> String {
    FieldWriter.fields { $0.integer(value) }.hexadecimal
  }

  func itemID() throws -> ItemID { try ItemID(Bytes32(vector.data("id").bytes)) }

  func accessibility() throws -> Accessibility {
    let number: UInt8 = try vector.number("class")
    return try #require(Accessibility(rawValue: number))
  }

  func classKey() throws -> SharedSecret {
    let key = try openKeys("tierKey", all: true).classKey(
      accessibility(),
      device: vector.inputs.hex["device"] == nil
        ? nil : DeviceSecret(vector.secret("device")).inVault(VaultID(bytes: Data())))
    return try #require(key)
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
