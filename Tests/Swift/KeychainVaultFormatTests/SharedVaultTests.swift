import Foundation
import KeychainCredentials
import Testing

@testable import KeychainSecrets
@testable import KeychainVaultFormat

@Suite("Members and administration keys")
struct SharedVaultTests {
  private let vault: SampleVault

  init() throws { vault = try SampleVault() }

  private func slot(
    _ number: UInt32, _ grant: SlotGrant, _ identity: borrowing VaultIdentity
  ) throws -> ListedSlot {
    try SlotSealing.seal(
      to: identity.recipient, number: number,
      granted: GrantedKey(grant, root: vault.root, keys: vault.keys), head: vault.identity)
  }

  private static func identity() throws -> VaultIdentity {
    try VaultIdentity(seed: SecretBytes.random(count: 32))
  }

  private func list(_ members: [Member]) throws -> MemberList {
    MemberList(
      id: vault.identity.id, epoch: 2, administration: vault.identity.administration,
      administrationHash: Data(count: 32), serial: 1, accepted: 0, first: 1,
      before: try Commit.first(vault.identity.id), nextNumber: 9, vaultKind: .shared,
      successions: try Succession.hash(of: []), members: members)
  }

  @Test func onlyMembersThatWriteSignCommits() throws {
    let administrator = try Self.identity()
    let reader = try Self.identity()
    let members = [
      try slot(1, .administers, administrator).member, try slot(2, .reads, reader).member,
    ]
    let list = try list(members)
    let (administratorKeys, readerKeys) = (administrator.keys, reader.keys)
    #expect(list.isPossible)
    let changes = try Commit.Changes(
      boxesHash: Derivation.hash(Data()), parts: vault.parts([vault.item("a")]))
    let commit = { (number: UInt32, signer: CommitSigner) in
      try Commit.seal(
        n: 2, previous: Data(count: 32), time: 0, writer: number, content: .changes(changes),
        keys: vault.keys, signer: signer, administration: nil
      ).commit
    }
    let signed = try commit(1, administratorKeys.signer(1))
    #expect(signed.isSigned(in: list))
    #expect(signed.hasExpectedProofs(in: list))
    #expect(signed.proofs.macs == [nil, nil, nil])
    #expect(try !commit(2, readerKeys.signer(2)).isSigned(in: list))
    #expect(try !commit(1, readerKeys.signer(1)).isSigned(in: list))
    #expect(try !commit(3, administratorKeys.signer(3)).isSigned(in: list))
    let local = try vault.commit(n: 2, after: Data(count: 32), []).commit
    #expect(!local.hasExpectedProofs(in: list))
  }

  @Test func aRecipientGetsTheAdministrationKeyOfTheHead() throws {
    let identity = try Self.identity()
    let sealed = try slot(1, .administers, identity)
    let next = try HeadIdentity(
      id: vault.identity.id, epoch: 3, administration: AdministrationKey.random().publicKey)
    let resealed = try SlotSealing.reseal(
      sealed.slot, of: sealed.member,
      granted: GrantedKey(.administers, root: vault.root, keys: vault.keys), head: next)
    #expect(resealed.slot.made == next.administration)
    let opened = try SlotSealing.open(resealed.slot, identity: identity, vault: next.id)
    #expect(opened?.binding == next.binding)
    #expect(SlotRow(encoded: Data(resealed.slot.fields)) == resealed.slot)
  }

  @Test func aPresentedRecoveryCodeKeepsTheKeyThatSigns() throws {
    let code = try SecretBytes.random(count: 32)
    let first = try SlotInput.recoveryCode(RecoveryCode(code.copy()))
    let header = { (made: Data) in
      SlotRow(number: 4, kind: .recoveryCode, grant: .administers, salt: first.salt, made: made)
    }
    let old = try header(Data(count: 32)).keys(code, in: vault.identity.id)
    let new = try header(vault.identity.administration).keys(code, in: vault.identity.id)
    #expect(try old.signingKey() == new.signingKey())
    #expect(old.boxKey != new.boxKey)
  }

  @Test func successionsAreFollowedWithOneRecoveryCode() throws {
    let (code, other) = (
      SharedSecret(try SecretBytes.random(count: 32)),
      SharedSecret(try SecretBytes.random(count: 32))
    )
    let recovery = CommitSigner(number: 1, seed: code)
    let keys = try (0..<3).map { _ in try AdministrationKey.random().publicKey }
    let make = { (epoch: UInt64, from: Data, to: Data, signer: CommitSigner) in
      try Succession(
        id: vault.identity.id, epoch: epoch, oldKey: from, newKey: to, lastList: Data(count: 32),
        recovery: signer
      ).encoded
    }
    let (head, _) = try vault.head()
    let way = try [
      make(1, keys[0], keys[1], recovery), make(2, keys[1], head.administration, recovery),
    ]
    let trusted = try recovery.publicKey()
    let leads = { (from: Data, records: [Data], trusted: Data?) in
      try Succession.lead(
        from: { $0 == from }, in: records, to: head.identity, trustingRecovery: trusted)
    }
    #expect(try leads(keys[0], way, trusted))
    #expect(try leads(keys[1], way, trusted))
    #expect(try !leads(keys[2], way, trusted))
    #expect(try !leads(keys[0], way, nil))
    #expect(try !leads(keys[0], [way[1]], trusted))
    let strange = try make(
      2, keys[1], head.administration, CommitSigner(number: 1, seed: other))
    #expect(try !leads(keys[0], [way[0], strange], trusted))
    try Succession.requireOrder(way, vault.identity)
    #expect(throws: KeychainError.self) {
      try Succession.requireOrder([way[1], way[0]], vault.identity)
    }
  }
}
