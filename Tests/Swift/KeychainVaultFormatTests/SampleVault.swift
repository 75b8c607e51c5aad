import Foundation
import KeychainCredentials
import Testing

@testable import KeychainSecrets
@testable import KeychainVaultFormat

/// A vault of known keys, whose parts tests make and read.
struct SampleVault {
  let root: SharedSecret
  let administration: AdministrationKey
  let identity: HeadIdentity
  let keys: TierKeys
  let device: VaultDevice

  init() throws {
    root = SharedSecret(try SecretBytes.random(count: 32))
    administration = try .random()
    identity = try HeadIdentity(
      id: .random(), epoch: 2, administration: administration.publicKey)
    keys = try TierKeys(root: root.bytes, of: identity)
    device = try DeviceSecret(SecretBytes.random(count: 32)).inVault(identity.id)
  }

  var sealing: ItemSealing { ItemSealing(keys: keys, device: device) }

  func item(
    _ account: String, _ accessibility: Accessibility = .whenUnlocked, secret: String = "secret"
  ) throws -> SealedItem {
    let credential = Credential(
      Credential(
        .genericPassword(service: "service", account: account), accessibility: accessibility,
        attributes: ["color": "red", "size": "9"]),
      version: ItemEntry.newVersion(), created: .now, modified: .now)
    return try sealing.seal(credential, secret: SecretBytes(copying: secret))
  }

  func parts(_ items: [SealedItem], removes: [ItemID] = []) throws -> [Part] {
    try Tier.allCases.map { tier in
      try Part(
        tier, puts: items.filter { $0.entry.tier == tier }, removes: removes, keys: keys)
    }
  }

  func commit(
    n: UInt64, after previous: Data, _ items: [SealedItem], removes: [ItemID] = [],
    keys: TierKeys? = nil
  ) throws -> (commit: Commit, box: Data) {
    let changes = try Commit.Changes(
      boxesHash: Derivation.hash(Data()), parts: parts(items, removes: removes))
    return try Commit.seal(
      n: n, previous: previous, time: 5, writer: 0, content: .changes(changes),
      keys: keys ?? self.keys, signer: nil, administration: nil)
  }

  /// Returns a head with a device slot and a key file slot, and its list.
  func head(lengths: VaultHead.Lengths? = nil) throws -> (head: VaultHead, list: MemberList) {
    let slots = [
      try SlotSealing.seal(
        .device(DeviceSecret(device.secret.copy())), number: 1,
        granted: GrantedKey(.openTier, root: root, keys: keys), head: identity),
      try SlotSealing.seal(
        .keyFile(SecretBytes(copying: String(repeating: "k", count: 32))), number: 2,
        granted: GrantedKey(.administers, root: root, keys: keys), head: identity,
        name: "stick"),
    ]
    let box = try administration.sealed(under: root.bytes)
    let list = try MemberList(
      id: identity.id, epoch: identity.epoch, administration: identity.administration,
      administrationHash: Derivation.hash(box), serial: 3, accepted: 2, first: 7,
      before: Data(repeating: 9, count: 32), nextNumber: 3, vaultKind: .local,
      successions: Succession.hash(of: []), members: slots.map(\.member))
    let parts = try HeadParts(
      identity: identity, checks: keys.checks, slots: slots.map { Data($0.slot.fields) },
      list: list.sealed(by: administration, keys), administrationBox: box, successions: [])
    let lengths = lengths ?? VaultHead.Lengths(head: 0, index: 100, spine: 84, log: 5000)
    let encoded = parts.encoded(index: lengths.index, spine: lengths.spine, log: lengths.log)
    return (try VaultHead(encoded, path: "vault"), list)
  }

  func index(pages: Int) throws -> VaultIndex {
    let pages = (0..<pages).map { number in
      var id = Data(repeating: 0, count: 32)
      id[0] = UInt8(number >> 8)
      id[1] = UInt8(number & 255)
      return VaultIndex.Page(
        first: ItemID(Bytes32(id.bytes)), count: 3, place: 1000 + number, length: 500,
        hash: Bytes32(Data(repeating: 1, count: 32).bytes), boxesPlace: 900 + number)
    }
    return VaultIndex(pages: [[], [], pages], spineHash: Data(repeating: 2, count: 32))
  }
}
