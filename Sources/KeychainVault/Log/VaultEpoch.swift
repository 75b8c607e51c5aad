internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// A root key with what follows from it, and the administration key that it opens.
struct VaultEpoch: Sendable {
  let root: SharedSecret

  /// All keys; in a shared vault with what signs in the name of who changes it.
  let keys: TierKeys
  let identity: HeadIdentity
  let administration: AdministrationKey

  /// A new root key.
  private init(
    id: VaultID, epoch: UInt64, administration: AdministrationKey, signer: CommitSigner?
  ) throws(KeychainError) {
    identity = try HeadIdentity(
      id: id, epoch: epoch, administration: administration.publicKey)
    root = SharedSecret(try RootKey.random())
    var keys = try TierKeys(
      root: root.bytes, id: id, epoch: epoch, binding: identity.binding)
    keys.signer = signer
    self.keys = keys
    self.administration = administration
  }

  /// The first epoch of a new vault.
  init(signer: CommitSigner?) throws(KeychainError) {
    try self.init(id: .random(), epoch: 1, administration: .random(), signer: signer)
  }

  /// An epoch after another one, and after `floor`; with a new administration key unless `key` is given.
  init(
    after old: VaultHead, key: AdministrationKey?, above floor: UInt64, signer: CommitSigner?
  ) throws(KeychainError) {
    let epoch = max(old.epoch, floor) + 1
    guard epoch <= HeadIdentity.greatestEpoch else {
      throw KeychainError(
        .damaged, "the vault counts more new keys than it can", recovery: .restoreBackup)
    }
    let administration = if let key { key } else { try AdministrationKey.random() }
    try self.init(id: old.id, epoch: epoch, administration: administration, signer: signer)
  }

  /// The epoch of a vault as it is.
  init(_ head: VaultHead, root: SharedSecret, keys: TierKeys, administration: AdministrationKey) {
    self.root = root
    self.keys = keys
    identity = head.identity
    self.administration = administration
  }

  func granted(_ grant: SlotGrant) throws(KeychainError) -> GrantedKey {
    try GrantedKey(grant, root: root, keys: keys)
  }

  /// Gives the keys to a slot, whose secret isn't needed.
  ///
  /// If its secret was presented, the slot names the present administration key.
  func reseal(
    _ listed: SlotSealing.Sealed, grant: SlotGrant, inputKey: SharedSecret?
  ) throws(KeychainError) -> SlotSealing.Sealed {
    if let inputKey {
      return try seal(
        SlotInput(of: listed.slot, key: inputKey), number: listed.slot.number, grant: grant,
        name: listed.member.name)
    }
    return try SlotSealing.reseal(
      listed.slot, of: listed.member, grant: grant, granted: granted(grant), head: identity)
  }

  func seal(
    _ input: SlotInput, number: UInt32, grant: SlotGrant = .administers,
    name: String = ""
  ) throws(KeychainError) -> SlotSealing.Sealed {
    try SlotSealing.seal(
      input, number: number, grant: grant, granted: granted(grant), head: identity, name: name)
  }

  func seal(
    to recipient: VaultRecipient, number: UInt32, grant: SlotGrant = .administers,
    name: String = ""
  ) throws(KeychainError) -> SlotSealing.Sealed {
    try SlotSealing.seal(
      to: recipient, number: number, grant: grant, granted: granted(grant), head: identity,
      name: name)
  }
}

/// A list of members with its slots, signed, as a head has them.
struct SignedMembers {
  let list: MemberList
  let head: HeadParts

  /// Signs a list.
  ///
  /// `list` makes it, for the hashes of the administration key's box and of the successions.
  init(
    _ epoch: VaultEpoch, _ slots: [SlotRow], successions: [Data],
    _ list: (_ administrationHash: Data, _ successions: Data) -> MemberList
  ) throws(KeychainError) {
    let box = try epoch.administration.sealed(under: epoch.root.bytes)
    self.list = list(
      try Derivation.hash(box, count: 32), try Succession.hash(of: successions))
    head = HeadParts(
      identity: epoch.identity, checks: epoch.keys.checks,
      slots: slots.sorted { $0.number < $1.number }.map { Data($0.fields) },
      list: try self.list.sealed(by: epoch.administration, epoch.keys.boxKeys.members),
      administrationBox: box, successions: successions)
  }
}

/// The base of a new vault.
struct FirstBase: NewBase {
  let epoch: VaultEpoch
  let members: SignedMembers

  init(
    _ epoch: VaultEpoch, kind: VaultKind, _ slots: [SlotSealing.Sealed]
  ) throws(KeychainError) {
    let first = try Commit.first(epoch.identity.id)
    self.epoch = epoch
    members = try SignedMembers(epoch, slots.map(\.slot), successions: []) { box, successions in
      MemberList(
        id: epoch.identity.id, epoch: epoch.identity.epoch,
        administration: epoch.identity.administration, administrationHash: box, serial: 1,
        accepted: 0, first: 1, before: first,
        nextNumber: (slots.map(\.slot.number).max() ?? 0) + 1, vaultKind: kind,
        successions: successions, members: slots.map(\.member))
    }
  }

  var keys: TierKeys { epoch.keys }
  var number: UInt64 { 1 }
  var previous: Data { members.list.before }
  var spine: Spine { get throws(KeychainError) { try Spine.first(epoch.identity.id) } }
  var hasManyItems: Bool { false }
  var administration: AdministrationKey? { epoch.administration }
  var serial: UInt64 { 1 }
  var head: HeadParts { members.head }

  func putItems(into writer: inout BaseWriter) {}
}
