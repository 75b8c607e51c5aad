import Foundation
import KeychainCredentials
import Testing

@testable import KeychainSecrets
@testable import KeychainVault

@Suite("Test vectors of format 1")
struct VectorTests {
  @Test func thereAreVectors() {
    #expect(VectorCase.all.count > 150)
  }

  @Test(arguments: VectorCase.all)
  func holds(_ vector: VectorCase) throws {
    #expect(try VectorRun(vector: vector).result() == vector.expect)
  }
}

/// Computes a vector with the functions of the vault.
struct VectorRun {
  let vector: VectorCase

  /// The result in hexadecimal; `nil` if the input is refused.
  func result() throws -> String? {
    let families = [notation, tiers, items, metadata, padding, slots, state, files]
    for family in families {
      if case .some(let result) = try family() { return result }
    }
    Issue.record("no code runs the operation \(vector.operation)")
    return nil
  }

  // Each family returns nil for an operation that is not its own, and .some(nil) for a refusal.

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
      // The attributes of the vector cannot be read: a Swift dictionary takes the composed and the
      // decomposed form of a name for one. The expected text is decoded and encoded again instead.
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
        counter: vector.number("counter")
      ).encoded.hexadecimal
    case "decoded seen record":
      .some(try SeenRecord(encoded: vector.data("record"))?.encoded.hexadecimal)
    case "seen name": try SeenRecordFile.name(of: vector.text("path"))
    case "cache payload":
      try UnlockCache.payload(
        limit: vector.secret("limit").withBytes { $0.littleEndian(at: 0, as: UInt64.self) },
        key: vector.secret("tierKey")
      ).hexadecimal()
    default: nil
    }
  }
}

extension VectorRun {
  private func slots() throws -> String?? {
    switch vector.operation {
    case "passphrase input key":
      try SlotSealing.passphraseKey(
        SecretBytes(copying: vector.text("passphrase")), salt: vector.data("salt"),
        parameters: PasswordHash.Parameters(
          memory: vector.number("memory"), passes: vector.number("passes"))
      ).hexadecimal()
    case "key file input key": try KeyFile.inputKey(vector.secret("contents")).hexadecimal()
    case "slot header": try slotRow().header.hexadecimal
    case "slot commitment": try slotTag("key", "pk1/slot.commit")
    case "slot key": try slotTag("inputKey", "pk1/slot.kek")
    case "slot box":
      try SecretBox.seal(
        vector.secret("grantedKey"), with: vector.secret("slotKey"), nonce: vector.bytes("nonce")
      ).hexadecimal
    case "slot row": try slotRow().row.hexadecimal
    case "slot mac":
      try Derivation.tag(vector.secret("root"), "pk1/slot.mac", vector.bytes("row")).hexadecimal
    case "slot sum":
      try Derivation.hash(Data(slotFields()), count: 16).hexadecimal
    case "slot term":
      try Derivation.tag(
        Derivation.key(vector.secret("tier0"), "pk1/state.row"), "slot", slotFields()
      ).hexadecimal
    default: nil
    }
  }

  private func state() throws -> String?? {
    switch vector.operation {
    case "vault sum": try VaultRow(checks: checks()).sum.hexadecimal
    case "vault term": try terms().term(of: VaultRow(checks: checks())).hexadecimal
    case "state box key":
      try Derivation.key(vector.secret("tier0"), "pk1/state.box").hexadecimal()
    case "state row key":
      try Derivation.key(vector.secret("tier0"), "pk1/state.row").hexadecimal()
    case "item term": try terms().term(of: itemRow(), tokens: vector.numbered("token")).hexadecimal
    case "group term":
      try terms().term(
        of: AccessGroupRow(
          token: vector.data("token"), accessibility: accessibility(), box: vector.data("box"))
      ).hexadecimal
    case "state sum":
      try vector.numbered("term").reduce(into: StateRow.empty) { $0.toggle($1) }.sum.hexadecimal
    case "state contents":
      try StateRow(
        counter: vector.number("counter"), itemCount: vector.number("items"),
        slotCount: vector.number("slots"), sum: vector.data("sum")
      ).fields.hexadecimal
    case "state box":
      // Opened, not sealed: the nonce of a state box is always random.
      try StateRow.open(
        Data(hexadecimal: vector.expect ?? ""), under: vector.secret("tier0")
      ).fields == vector.bytes("contents") ? vector.expect : nil
    default: nil
    }
  }

  private func accessibility() throws -> Accessibility {
    let number: UInt8 = try vector.number("class")
    return try #require(Accessibility(rawValue: number))
  }

  private func sealing() throws -> ItemSealing {
    let open = SharedSecret(try vector.secret("tier0"))
    let checks = VaultChecks(open: Data(), first: Data(), unlocked: Data())
    return ItemSealing(
      keys: TierKeys(checks: checks, open: open, first: nil, unlocked: nil), device: nil)
  }

  private func terms() throws -> StateTerms { try StateTerms(open: vector.secret("tier0")) }

  private func checks() throws -> VaultChecks {
    try VaultChecks(
      open: vector.data("check0"), first: vector.data("check1"), unlocked: vector.data("check2"))
  }

  private func itemRow() throws -> ItemRow {
    try ItemRow(
      id: vector.data("id"), accessibility: accessibility(),
      device: vector.inputs.hex["device"] == nil ? nil : vector.data("device"),
      version: vector.number("version"), metadata: vector.data("metadata"),
      secret: vector.data("secret"))
  }

  private func slotRow() throws -> SlotRow {
    let kind: UInt8 = try vector.number("kind")
    let grant: UInt8 = try vector.number("granted")
    return try SlotRow(
      number: vector.inputs.number["number"] == nil ? 1 : vector.number("number"),
      kind: #require(SlotKind(rawValue: kind)), grant: #require(SlotGrant(rawValue: grant)),
      parameters: vector.data("parameters"), salt: vector.data("salt"),
      commitment: vector.inputs.hex["commitment"] == nil ? Data() : vector.data("commitment"),
      box: vector.inputs.hex["box"] == nil ? Data() : vector.data("box"))
  }

  private func slotFields() throws -> [UInt8] {
    let mac = try vector.bytes("mac")
    return try vector.bytes("row") + FieldWriter.fields { $0.byteString(mac) }
  }

  private func slotTag(_ key: String, _ label: String) throws -> String {
    try Derivation.tag(vector.secret(key), label, vector.bytes("header")).hexadecimal
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

  /// The identity in the bytes, which are metadata without anything else.
  private func decodedIdentity(_ bytes: [UInt8]) throws -> CredentialIdentity {
    let rest = [UInt8](repeating: 0, count: 3 + 8 + 8 + 1 + 4)
    return try credential(bytes + rest).identity
  }

  private func credential(_ bytes: [UInt8]) throws -> Credential {
    let credential = try decoded(bytes)
    return try #require(credential)
  }

  private func decoded(_ bytes: [UInt8]) throws -> Credential? {
    let row = ItemRow(
      id: Data(), accessibility: .always, device: nil, version: 1, metadata: Data(), secret: Data())
    return MetadataCoding.decode(try SecretBytes(copying: bytes.span.bytes), of: row)
  }

  private func reencoded(_ hexadecimal: String) throws -> String? {
    guard let credential = try decoded(Array(Data(hexadecimal: hexadecimal))) else { return nil }
    return try MetadataCoding.encode(credential).hexadecimal()
  }
}

extension Data {
  init(hexadecimal: String) throws {
    let digits = Array(hexadecimal)
    self.init(
      try stride(from: 0, to: digits.count, by: 2).map { index in
        try #require(UInt8(String(digits[index...(index + 1)]), radix: 16))
      })
  }
}

extension SecretBytes {
  borrowing func hexadecimal() -> String { withBytes { $0.array.hexadecimal } }
}
