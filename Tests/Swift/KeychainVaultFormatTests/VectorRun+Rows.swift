import Foundation
import KeychainCredentials
import KeychainVaultFormat
import Testing
import VaultVectors

@testable import KeychainSecrets

extension VectorRun {
  func slots() throws -> String?? {
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

  func state() throws -> String?? {
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

  func accessibility() throws -> Accessibility {
    let number: UInt8 = try vector.number("class")
    return try #require(Accessibility(rawValue: number))
  }

  func sealing() throws -> ItemSealing {
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

  func identity() throws -> CredentialIdentity {
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
    return try credential(bytes + rest).identity
  }

  func credential(_ bytes: [UInt8]) throws -> Credential {
    let credential = try decoded(bytes)
    return try #require(credential)
  }

  private func decoded(_ bytes: [UInt8]) throws -> Credential? {
    let row = ItemRow(
      id: Data(), accessibility: .always, device: nil, version: 1, metadata: Data(), secret: Data())
    return MetadataCoding.decode(try SecretBytes(copying: bytes.span.bytes), of: row)
  }

  func reencoded(_ hexadecimal: String) throws -> String? {
    guard let credential = try decoded(Array(Data(hexadecimal: hexadecimal))) else { return nil }
    return try MetadataCoding.encode(credential).hexadecimal()
  }
}
