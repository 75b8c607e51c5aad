import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

extension VectorRun {
  func rows() throws -> String?? {
    switch vector.operation {
    case "item row hash": try itemRow().rowHash().hexadecimal
    case "secret hash": try Derivation.hash(vector.data("secret"), count: 32).hexadecimal
    case "group key in the tree":
      try AccessGroupRow(
        token: vector.data("token"), accessibility: accessibility(), box: Data()
      ).treeKey.hexadecimal
    case "group row hash":
      try AccessGroupRow(token: Data(), accessibility: .always, box: vector.data("box"))
        .treeValue().hexadecimal
    case "token term":
      try terms().term(of: vector.data("token"), item: vector.data("id")).hexadecimal
    case "token sum": try tokenEntry().sum.hexadecimal
    case "token entry": try tokenEntry().value?.hexadecimal
    default: nil
    }
  }

  private func terms() throws -> TokenTerms { try TokenTerms(open: vector.secret("tier0")) }

  private func tokenEntry() throws -> TokenEntry {
    let (terms, token) = (try terms(), try vector.data("token"))
    var entry = TokenEntry.none
    for id in try vector.numbered("id") { entry.add(try terms.term(of: token, item: id)) }
    return entry
  }

  func accessibility() throws -> Accessibility {
    let number: UInt8 = try vector.number("class")
    return try #require(Accessibility(rawValue: number))
  }

  func sealing() throws -> ItemSealing {
    let checks = VaultChecks(open: Data(), first: Data(), unlocked: Data())
    return ItemSealing(
      keys: TierKeys(
        binding: KeyBinding(bytes: Data()), checks: checks,
        open: SharedSecret(try vector.secret("tier0")), first: nil, unlocked: nil), device: nil)
  }

  private func itemRow() throws -> ItemRow {
    try ItemRow(
      id: vector.data("id"), accessibility: accessibility(),
      device: vector.inputs.hex["device"] == nil ? nil : vector.data("device"),
      version: vector.number("version"), tokens: vector.data("tokens"),
      secretHash: vector.data("hash"), metadata: vector.data("metadata"), secret: Data())
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
      id: Data(), accessibility: .always, device: nil, version: 1, tokens: Data(),
      secretHash: Data(), metadata: Data(), secret: Data())
    return MetadataCoding.decode(try SecretBytes(copying: bytes.span.bytes), of: row)
  }

  func reencoded(_ hexadecimal: String) throws -> String? {
    guard let credential = try decoded(Array(Data(hexadecimal: hexadecimal))) else { return nil }
    return try MetadataCoding.encode(credential).hexadecimal()
  }
}
