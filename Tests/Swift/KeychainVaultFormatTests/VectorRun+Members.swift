import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

extension VectorRun {
  func members() throws -> String?? {
    switch vector.operation {
    case "members": try memberList().fields.hexadecimal
    case "members hash": try decodedList("members")?.hash().hexadecimal
    case "members signature":
      try AdministrationKey(seed: vector.secret("seed"))
        .sign(vector.bytes("members"), label: "pk3/members").hexadecimal
    case "decoded members": .some(try decodedList("members")?.fields.hexadecimal)
    case "opened members": .some(try openedMembers())
    case "opened administration key": .some(try openedAdministrationKey())
    default: nil
    }
  }

  private func memberList() throws -> MemberList {
    let member = try Member(
      number: vector.number("number"), kindNumber: vector.number("kind"),
      grantNumber: vector.number("grant"), slotHash: vector.data("slotHash"),
      boxKey: vector.data("boxKey"),
      signingKey: vector.inputs.hex["signingKey"] == nil ? Data() : vector.data("signingKey"),
      name: vector.text("name"))
    return try MemberList(
      id: id(), epoch: vector.number("epoch"), administration: vector.data("administration"),
      administrationHash: vector.data("administrationHash"), serial: vector.number("serial"),
      accepted: vector.number("accepted"), first: vector.number("first"),
      before: vector.data("before"), nextNumber: vector.number("nextNumber"),
      vaultKind: #require(VaultKind(rawValue: vector.number("kindOfVault"))),
      successions: vector.data("successions"), members: [member])
  }

  private func decodedList(_ name: String) throws -> MemberList? {
    let bytes = try vector.bytes(name)
    return MemberList(bytes.span.bytes)
  }

  private func openedMembers() throws -> String? {
    let head = try HeadParts(
      identity: headIdentity(), checks: [], slots: [], list: vector.data("box"),
      administrationBox: vector.data("administrationBox"),
      successions: vector.numbered("succession"))
    return try unlessDamaged {
      try head.signedList(SharedSecret(vector.secret("tier0"))).fields.hexadecimal
    }
  }

  private func openedAdministrationKey() throws -> String? {
    let (box, expected) = (try vector.data("box"), try vector.data("administration"))
    return try unlessDamaged {
      let root = try vector.secret("root")
      let key = try AdministrationKey(box: box, root: root, expected: expected)
      // The key is written only sealed.
      let sealed = try key.sealed(under: root)
      let plain = try Sealing.open(sealed, with: Derivation.key(root, "pk3/admin"))
      return plain?.hexadecimal() ?? ""
    }
  }

  func successions() throws -> String?? {
    switch vector.operation {
    case "succession": try madeSuccession().encoded.hexadecimal
    case "decoded succession":
      .some(
        try unlessDamaged { try Succession(vector.data("record"), of: id()).encoded.hexadecimal })
    case "followed succession": .some(try followedSuccession())
    case "successions hash":
      try Succession.hash(of: vector.numbered("record")).hexadecimal
    default: nil
    }
  }

  private func madeSuccession() throws -> Succession {
    try Succession(
      id: id(), epoch: vector.number("epoch"), oldKey: vector.data("oldKey"),
      newKey: vector.data("newKey"), lastList: vector.data("listHash"),
      recovery: CommitSigner(number: 1, seed: SharedSecret(vector.secret("recoverySeed"))))
  }

  private func followedSuccession() throws -> String? {
    let succession = try Succession(vector.data("record"), of: id())
    let recovery = try vector.data("trustedRecoveryKey")
    guard try succession.oldKey == vector.data("trusted"),
      succession.isFollowed(trustingRecovery: recovery)
    else { return nil }
    return succession.newKey.hexadecimal
  }

  /// Returns the computed value; `nil` if the input is damaged.
  func unlessDamaged(_ compute: () throws -> String) throws -> String? {
    do {
      return try compute()
    } catch let error as KeychainError {
      #expect(error.code == .damaged)
      return nil
    }
  }
}
