internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

/// What a vault's file holds up to its last good commit, verified with T0; pages are read when they are needed.
struct VaultContents: Sendable {
  let path: String
  let file: any DiskFile
  let head: VaultHead
  let list: MemberList
  let index: VaultIndex
  let base: Commit
  let pages: PageCache
  let spine: SpineCache

  /// The commits of the log, the base first: number `base.n + i`.
  private(set) var bodyHashes: PackedHashes
  private(set) var digests: PackedHashes

  /// What the log, or a transaction that is under way, says of an item, by tier.
  private(set) var logged = [LoggedChanges(), LoggedChanges(), LoggedChanges()]

  /// The newest proof of each tier, and the newest commit that changed it.
  private(set) var proofs: [Proof]

  /// The end of the last good frame and its boxes.
  private(set) var end: Int
  private(set) var lastFrame: LastFrame
  private(set) var growth = LogGrowth()

  /// What follows the last good frame: an unfinished write.
  var hasUnfinishedWrite = false

  /// Whether the log is damaged behind the last good commit.
  var isCutOff = false

  struct Logged: Sendable {
    /// The commit that says so; 0 in a transaction that is under way.
    let n: UInt64
    /// `nil`: removed.
    let item: VaultItem?
  }

  struct Proof: Sendable {
    var n: UInt64
    var digest: Data
    var mac: Data?
    var lastChange: UInt64 = 0
  }

  /// Where the last frame begins, and what a handle compares: its header and the nonce of its box.
  struct LastFrame: Sendable {
    let place: Int
    let header: FrameHeader
    let beginning: Data

    static let beginningCount = FrameHeader.count + 24
    var frame: Range<Int> { place..<place + header.frameCount }
    var boxes: Range<Int> { frame.upperBound..<place + header.totalCount }
  }

  init(
    path: String, file: any DiskFile, head: VaultHead, list: MemberList, index: VaultIndex,
    base: Commit, frame: LastFrame
  ) {
    self.path = path
    self.file = file
    self.head = head
    self.list = list
    self.index = index
    self.base = base
    pages = PageCache()
    spine = SpineCache()
    bodyHashes = PackedHashes(base.bodyHash)
    digests = PackedHashes(base.digest)
    proofs = base.proofs.macs.map { Proof(n: base.n, digest: base.digest, mac: $0) }
    lastFrame = frame
    end = frame.place + frame.header.totalCount
  }

  /// The number and digest of the newest commit.
  var newest: (n: UInt64, digest: Data) {
    (base.n + UInt64(digests.count - 1), digests[digests.count - 1])
  }

  /// Whether nothing but the base is in the log.
  var isBaseAlone: Bool { digests.count == 1 }

  func read(_ range: Range<Int>) throws(KeychainError) -> Data { try file.read(range, of: path) }
}

// MARK: - The log

extension VaultContents {
  /// Adds a commit that was opened, and continues the newest one.
  mutating func add(_ commit: Commit, _ frame: LastFrame) {
    guard let changes = commit.changes else { return }
    var place = frame.boxes.lowerBound
    for part in changes.parts {
      guard !part.changes.isEmpty else { continue }
      let held = HeldPart(part, boxesAt: place)
      place = held.boxesEnd
      let tier = part.tier.index
      proofs[tier].lastChange = commit.n
      var put = 0
      for change in part.changes {
        switch change {
        case .remove(let id): logged[tier].set(Logged(n: commit.n, item: nil), for: id)
        case .put(let entry):
          let item = VaultItem(entry, in: held, put)
          logged[tier].set(Logged(n: commit.n, item: item), for: entry.id)
          put += 1
        }
      }
    }
    for (tier, mac) in commit.proofs.macs.enumerated() {
      guard mac != nil || commit.proofs.writer != nil else { continue }
      (proofs[tier].n, proofs[tier].digest, proofs[tier].mac) = (commit.n, commit.digest, mac)
    }
    bodyHashes.append(commit.bodyHash)
    digests.append(commit.digest)
    lastFrame = frame
    end = frame.place + frame.header.totalCount
    growth.add(
      frame.header, hasAllProofs: commit.proofs.writer != nil || !commit.proofs.macs.contains(nil))
  }

  /// Lays a change of a transaction over what the file says.
  mutating func lay(_ item: VaultItem?, over id: ItemID, in tier: Tier) {
    logged[tier.index].set(Logged(n: 0, item: item), for: id)
  }

  /// Fails if a tier whose key is at hand has a wrong proof, or a change after its newest one.
  func requireProofs(_ keys: TierKeys) throws(KeychainError) {
    for tier in Tier.allCases {
      let proof = proofs[tier.index]
      if list.vaultKind == .local {
        guard let expected = try keys.proof(tier, of: proof.digest) else { continue }
        guard let mac = proof.mac, ConstantTime.equal(mac.bytes, expected.bytes) else {
          throw .damagedVault(path, "a proof of its commit \(proof.n) is wrong")
        }
      }
      guard proof.lastChange <= proof.n else {
        throw .damagedVault(
          path, "its commit \(proof.lastChange) changed items whose key the writer did not have")
      }
    }
  }

  /// The newest commits that are proved under the keys at hand, for the seen record.
  func proved(_ keys: TierKeys) -> [SeenCommit?] {
    Tier.allCases.map { tier in
      guard keys.key(tier) != nil else { return nil }
      let proof = proofs[tier.index]
      let isNewest = tier == .open || list.vaultKind == .shared
      return SeenCommit(
        serial: list.serial, n: isNewest ? newest.n : proof.n,
        digest: isNewest ? newest.digest : proof.digest)
    }
  }

  /// The record of somebody who saw this vault with these keys.
  func record(_ keys: TierKeys) throws(KeychainError) -> SeenRecord {
    try SeenRecord(list, proved: proved(keys))
  }
}

extension Tier {
  var index: Int { Int(rawValue) }
}

// MARK: - Items

extension VaultContents {
  /// What one tier has under an id.
  func item(_ id: ItemID, in tier: Tier, _ keys: TierKeys) throws(KeychainError) -> VaultItem? {
    if let logged = logged[tier.index][id] { return logged.item }
    guard let number = index.page(of: id, in: tier) else { return nil }
    let held = try page(number, in: tier, keys, isKept: true)
    return held.puts.firstIndex { $0.id == id }.map { VaultItem(held.puts[$0], in: held, $0) }
  }

  /// The item of an id: that of the highest tier that has it, whether its key is at hand or not.
  ///
  /// If its page is damaged, the error calls it `name`.
  func item(
    _ id: ItemID, _ keys: TierKeys, name: @autoclosure () -> String
  ) throws(KeychainError) -> VaultItem? {
    do throws(KeychainError) {
      for tier in Tier.allCases.reversed() {
        if let found = try item(id, in: tier, keys) { return found }
      }
      return nil
    } catch {
      throw error.code == .damaged ? .damagedItem(name()) : error
    }
  }

  /// What was verified once is kept, unless all pages are read one after the other.
  private func page(
    _ number: Int, in tier: Tier, _ keys: TierKeys, isKept: Bool
  ) throws(KeychainError) -> HeldPart {
    let page = index.pages[tier.index][number]
    if let known = pages.page(page, of: tier) { return known }
    let box = try read(page.place..<page.place + page.length)
    guard try Derivation.hash(box, count: 32) == page.hash,
      let part = try Part.openPage(box, tier: tier, keys: keys),
      index.describes(part, page: number)
    else { throw .damagedVault(path, "a page of \(page.count) items is not what was written") }
    let held = HeldPart(part, boxesAt: page.boxesPlace)
    guard held.boxesEnd <= head.lengths.log else {
      throw .damagedVault(path, "a page of \(page.count) items lies outside of its file")
    }
    if isKept { pages.keep(held, page) }
    return held
  }

  /// About as many items as there are: those that a transaction replaced count twice.
  var itemCount: Int {
    index.pages.joined().reduce(0) { $0 + $1.count }
      + logged.reduce(0) { $0 + $1.all.values.count { $0.item != nil } }
  }

  /// What a walk through all items finds.
  enum Visited {
    case item(VaultItem)
    case damagedPage(VaultIndex.Page)
    /// An item that one of a higher tier hides.
    case shadowed(VaultItem)
  }

  /// Calls `body` with the items of all tiers, T2 first, in the order of their ids.
  func forEachItem(
    _ keys: TierKeys, _ body: (Visited) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    try forEachPage(keys) { walked throws(KeychainError) in
      if let page = walked.page, walked.damage != nil { try body(.damagedPage(page)) }
      for item in walked.items { try body(.item(item)) }
      for item in walked.shadowed { try body(.shadowed(item)) }
    }
  }

  /// The items by class, as far as T0 tells; pages that are damaged count as unknown.
  func itemCounts(
    _ keys: TierKeys
  ) throws(KeychainError) -> (known: [Accessibility: Int], damaged: Int) {
    var (known, damaged): ([Accessibility: Int], Int) = ([:], 0)
    try forEachItem(keys) { visited throws(KeychainError) in
      switch visited {
      case .item(let item): known[item.accessibility, default: 0] += 1
      case .damagedPage(let page): damaged += page.count
      case .shadowed: break
      }
    }
    return (known, damaged)
  }

  /// A page with the items in its range of ids, as the log has changed them.
  struct WalkedPage {
    /// `nil` if the tier has no pages.
    var page: VaultIndex.Page?
    var held: HeldPart?
    var damage: KeychainError?
    var items: [VaultItem] = []
    var shadowed: [VaultItem] = []

    /// Whether the items are all of the page, and no others.
    var isUnchanged = false
  }

  /// Calls `body` with the pages of all tiers, T2 first, in the order of their ids.
  func forEachPage(
    _ keys: TierKeys, _ body: (WalkedPage) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    var higher: Set<ItemID> = []
    for tier in Tier.allCases.reversed() {
      let canHide = (0..<tier.index).contains { !index.pages[$0].isEmpty || !logged[$0].isEmpty }
      let changes = logged[tier.index].all
      var new = changes.values.compactMap(\.item).sorted { $0.id < $1.id }[...]
      let pages = index.pages[tier.index]
      var boxesCount = 0
      for number in 0..<max(pages.count, 1) {
        var walked = WalkedPage()
        var own: [VaultItem] = []
        if number < pages.count {
          walked.page = pages[number]
          do throws(KeychainError) {
            let held = try page(number, in: tier, keys, isKept: false)
            try requireOwnBoxes(of: held, pages[number], &boxesCount)
            walked.held = held
            for (index, entry) in held.puts.enumerated() where changes[entry.id] == nil {
              own.append(VaultItem(entry, in: held, index))
            }
          } catch {
            guard error.code == .damaged else { throw error }
            walked.damage = error
          }
        }
        let isLast = number + 1 >= pages.count
        let added = isLast ? new : new.prefix { $0.id < pages[number + 1].first }
        new = new.dropFirst(added.count)
        let all = added.isEmpty ? own : (own + added).sorted { $0.id < $1.id }
        for item in all {
          if higher.contains(item.id) {
            walked.shadowed.append(item)
          } else {
            walked.items.append(item)
            if canHide { higher.insert(item.id) }
          }
        }
        walked.isUnchanged =
          added.isEmpty && walked.shadowed.isEmpty && own.count == walked.held?.puts.count
        try body(walked)
      }
    }
  }

  /// Fails if the pages of a tier have more boxes than the file can hold: to go through shared ones could be endless.
  private func requireOwnBoxes(
    of held: HeldPart, _ page: VaultIndex.Page, _ count: inout Int
  ) throws(KeychainError) {
    count += held.boxesEnd - page.boxesPlace
    guard count <= head.lengths.log else {
      throw .damagedVault(path, "its pages share the boxes of their secrets")
    }
  }
}
