internal import FoundationEssentials
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

  private init(
    id: VaultID, epoch: UInt64, administration: AdministrationKey, signer: CommitSigner?
  ) throws(KeychainError) {
    identity = try HeadIdentity(id: id, epoch: epoch, administration: administration.publicKey)
    root = SharedSecret(try translated(secrets: SecretBytes.random(count: 32)))
    var keys = try TierKeys(root: root.bytes, of: identity)
    keys.signer = signer
    self.keys = keys
    self.administration = administration
  }

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

  private func granted(_ grant: SlotGrant) throws(KeychainError) -> GrantedKey {
    try GrantedKey(grant, root: root, keys: keys)
  }

  /// Gives the keys to a slot, which names the present administration key if its secret was presented.
  func reseal(
    _ listed: ListedSlot, grant: SlotGrant, inputKey: SharedSecret?
  ) throws(KeychainError) -> ListedSlot {
    try SlotSealing.reseal(
      listed.slot, of: listed.member, granted: granted(grant), head: identity, inputKey: inputKey)
  }

  func seal(
    _ input: SlotInput, number: UInt32, grant: SlotGrant = .administers, name: String = ""
  ) throws(KeychainError) -> ListedSlot {
    try SlotSealing.seal(input, number: number, granted: granted(grant), head: identity, name: name)
  }

  func seal(
    to recipient: VaultRecipient, number: UInt32, grant: SlotGrant = .administers, name: String = ""
  ) throws(KeychainError) -> ListedSlot {
    try SlotSealing.seal(
      to: recipient, number: number, granted: granted(grant), head: identity, name: name)
  }
}

/// A list of members with its slots, signed, as a head has them.
struct SignedMembers {
  let epoch: VaultEpoch
  let list: MemberList
  let head: HeadParts

  /// Signs a list with these slots.
  init(
    _ epoch: VaultEpoch, _ list: MemberList, _ slots: [ListedSlot], successions: [Data]
  ) throws(KeychainError) {
    self.epoch = epoch
    let box = try epoch.administration.sealed(under: epoch.root.bytes)
    self.list = try list.of(epoch.identity, slots, administrationBox: box, successions: successions)
    head = HeadParts(
      identity: epoch.identity, checks: epoch.keys.checks,
      slots: slots.map(\.slot).sorted { $0.number < $1.number }.map { Data($0.fields) },
      list: try self.list.sealed(by: epoch.administration, epoch.keys),
      administrationBox: box, successions: successions)
  }
}
