internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// What a transaction changes: it reads its own changes, and becomes one commit.
struct VaultWriter: ~Copyable {
  let sealing: ItemSealing

  /// What the vault holds with the changes.
  private(set) var contents: VaultContents
  private let before: VaultContents

  /// The changes by tier; `nil` removes.
  private var changes: [[ItemID: SealedItem?]] = [[:], [:], [:]]

  /// Whether the file is made anew, whatever has changed.
  var makesBase = false

  /// Whether secrets were removed, rather than replaced.
  private(set) var removesSecrets = false

  var list: MemberList { contents.list }
  var keys: TierKeys { sealing.keys }
  var hasChanges: Bool { changes.contains { !$0.isEmpty } }

  /// The versions of what was put, and `nil` for what was removed.
  var versions: [ItemID: UInt64?] {
    var versions: [ItemID: UInt64?] = [:]
    for changes in changes {
      for (id, item) in changes where versions[id] == nil || item != nil {
        versions.updateValue(item?.entry.version, forKey: id)
      }
    }
    return versions
  }

  init(_ contents: VaultContents, _ sealing: ItemSealing) {
    self.contents = contents
    before = contents
    self.sealing = sealing
  }

  /// The item of an id, whether its key is at hand or not.
  func item(_ id: ItemID, name: String) throws(KeychainError) -> VaultItem? {
    try contents.item(id, keys, name: name)
  }

  /// Puts an item, and removes its id from the other tiers whose key is at hand.
  mutating func put(_ item: SealedItem) throws(KeychainError) {
    let id = item.entry.id
    for tier in Tier.allCases where tier != item.entry.tier {
      try remove(id, from: tier)
    }
    changes[Int(item.entry.tier.rawValue)][id] = .some(item)
    contents.lay(VaultItem(item), over: id, in: item.entry.tier)
  }

  /// Removes an id from all tiers whose key is at hand.
  mutating func remove(_ id: ItemID) throws(KeychainError) {
    removesSecrets = true
    for tier in Tier.allCases { try remove(id, from: tier) }
  }

  private mutating func remove(_ id: ItemID, from tier: Tier) throws(KeychainError) {
    guard keys.key(tier) != nil, try contents.item(id, in: tier, keys) != nil else { return }
    let index = Int(tier.rawValue)
    if try before.item(id, in: tier, keys) == nil {
      changes[index].removeValue(forKey: id)
    } else {
      changes[index][id] = .some(nil)
    }
    contents.lay(nil, over: id, in: tier)
  }
}

// MARK: - The commit

extension VaultWriter {
  /// A commit's bytes: its frame with the box, and the secrets' boxes.
  struct Frame {
    let header: FrameHeader
    let bytes: Data
    let boxes: [Data]
  }

  private borrowing func puts(_ tier: Tier) -> [SealedItem] {
    changes[Int(tier.rawValue)].values.compactMap(\.self).sorted { $0.entry.id < $1.entry.id }
  }

  /// Whether the changes fit in one commit; else they need a new base.
  var fitsInCommit: Bool {
    var (body, boxes) = (0, 0)
    for change in changes.joined() {
      guard let item = change.value else {
        body += 1 + ItemID.count
        continue
      }
      body += 1 + item.entry.count + 4 + item.metadata.bytes.count
      boxes += item.box.count
    }
    // The body has more than its entries: the rest is less than this.
    return body + body / 8 + 4096 <= Commit.maximumBodyCount
      && boxes <= FrameHeader.maximumBoxesCount
  }

  borrowing func sealed() throws(KeychainError) -> (Commit, Frame) {
    var parts: [Part] = []
    var boxes: [Data] = []
    for tier in Tier.allCases {
      let puts = puts(tier)
      let removes = changes[Int(tier.rawValue)].filter { $0.value == nil }.map(\.key)
      parts.append(try Part(tier, puts: puts, removes: removes, keys: keys))
      boxes += puts.map(\.box)
    }
    let hash = try Derivation.hash(boxes.reduce(into: Data()) { $0 += $1 }, count: 32)
    let signer = list.vaultKind == .shared ? keys.signer : nil
    let (commit, box) = try Commit.seal(
      n: before.newest.n + 1, previous: before.newest.digest, time: Date().microseconds ?? 0,
      writer: signer?.number ?? 0, content: .changes(Commit.Changes(boxesHash: hash, parts: parts)),
      keys: keys, signer: signer, administration: nil)
    let header = FrameHeader(
      n: commit.n, boxCount: box.count, boxesCount: boxes.reduce(0) { $0 + $1.count })
    let bytes = try header.encoded(epoch: before.head.epoch, open: keys.open) + box
    return (commit, Frame(header: header, bytes: bytes, boxes: boxes))
  }
}
