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
      try AdministrationKey(knownSeed: vector.secret("seed"))
        .sign(vector.bytes("members"), label: "pk2/members").hexadecimal
    case "decoded members": .some(try decodedList("members")?.fields.hexadecimal)
    case "opened members": .some(try openedMembers())
    case "opened administration key": .some(try openedAdministrationKey())
    default: try successions()
    }
  }

  private func memberList() throws -> MemberList {
    let member = try Member(
      number: vector.number("number"), kindNumber: vector.number("kind"),
      grantNumber: vector.number("granted"), rowHash: vector.data("row"),
      boxKey: vector.data("boxKey"), signingKey: vector.data("signingKey"),
      name: vector.text("name"))
    return try MemberList(
      id: id(), epoch: vector.number("epoch"), administration: vector.data("administration"),
      administrationHash: vector.data("administrationBox"), serial: vector.number("serial"),
      nextNumber: vector.number("nextNumber"),
      vaultKind: #require(VaultKind(rawValue: vector.number("kindOfVault"))),
      successions: vector.data("successions"), members: [member])
  }

  private func decodedList(_ name: String) throws -> MemberList? {
    let bytes = try vector.bytes(name)
    return MemberList(bytes.span.bytes)
  }

  private func headOfList() throws -> HeadRow {
    let zeros = Data(repeating: 0, count: 32)
    return try HeadRow(
      id: id(), epoch: vector.number("epoch"),
      checks: VaultChecks(
        open: zeros.prefix(16), first: zeros.prefix(16), unlocked: zeros.prefix(16)),
      parameters: HeadRow.noParameters, administration: vector.data("administration"),
      macs: [zeros, zeros, zeros], generation: 1)
  }

  private func openedMembers() throws -> String? {
    let row = try MembersRow(list: vector.data("box"), administration: vector.data("column"))
    let head = try headOfList()
    return try unlessDamaged {
      try row.opened(vector.secret("tier0"), head: head, successions: []).fields.hexadecimal
    }
  }

  private func openedAdministrationKey() throws -> String? {
    let (box, expected) = (try vector.data("box"), try vector.data("administration"))
    return try unlessDamaged {
      let root = try vector.secret("root")
      let key = try AdministrationKey(box: box, root: root, expected: expected)
      // The key is written only sealed.
      let sealed = try key.sealed(under: root)
      let plain = try Sealing.open(sealed, with: Derivation.key(root, "pk2/admin.box"))
      return plain?.hexadecimal() ?? ""
    }
  }

  private func successions() throws -> String?? {
    switch vector.operation {
    case "succession": try madeSuccession().row.record.hexadecimal
    case "decoded succession": .some(try decodedSuccession()?.row.record.hexadecimal)
    case "leading succession": .some(try leadingSuccession())
    case "followed succession": .some(try followedSuccession())
    case "successions hash":
      try SuccessionRow.hash(
        of: vector.numbered("record").map { SuccessionRow(epoch: 1, record: $0) }
      ).hexadecimal
    default: nil
    }
  }

  private func madeSuccession() throws -> Succession {
    var recovery: StateSigner?
    if vector.inputs.hex["recoverySeed"] != nil {
      recovery = StateSigner(number: 1, seed: SharedSecret(try vector.secret("recoverySeed")))
    }
    return try Succession(
      id: id(), epoch: vector.number("epoch"),
      from: AdministrationKey(knownSeed: vector.secret("oldSeed")),
      to: AdministrationKey(knownSeed: vector.secret("newSeed")),
      after: #require(try decodedList("members")),
      reason: #require(Succession.Reason(rawValue: vector.number("reason"))), recovery: recovery)
  }

  private func decodedSuccession() throws -> Succession? {
    let row = try SuccessionRow(epoch: vector.number("epoch"), record: vector.data("record"))
    let id = try id()
    do throws(KeychainError) {
      return try Succession(row, of: id)
    } catch {
      #expect(error.code == .damaged)
      return nil
    }
  }

  private func leadingSuccession() throws -> String? {
    let succession = try #require(try decodedSuccession())
    return succession.isSignedByBothKeys ? succession.newKey.hexadecimal : nil
  }

  private func followedSuccession() throws -> String? {
    let succession = try #require(try decodedSuccession())
    let recovery = try vector.data("trustedRecoveryKey")
    return succession.canBeFollowed(trustingRecovery: recovery)
      ? succession.newKey.hexadecimal : nil
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
