internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

/// What a vault's file holds up to its last good commit, verified with T0.
///
/// Pages are read when they are needed, and compared with their hash then. What the log changed is in memory.
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
    proofs = Tier.allCases.map {
      Proof(n: base.n, digest: base.digest, mac: base.proofs.macs[Int($0.rawValue)])
    }
    lastFrame = frame
    end = frame.place + frame.header.totalCount
  }

  /// The number and digest of the newest commit.
  var newest: (n: UInt64, digest: Data) {
    (base.n + UInt64(digests.count - 1), digests[digests.count - 1])
  }

  /// Whether nothing but the base is in the log.
  var isBaseAlone: Bool { digests.count == 1 }

  func read(_ range: Range<Int>) throws(KeychainError) -> Data {
    do throws(Errno) {
      return try file.read(range)
    } catch {
      throw .system(error, "read", path)
    }
  }
}

// MARK: - The log

extension VaultContents {
  /// Adds a commit that was opened, and continues the newest one.
  mutating func add(_ commit: Commit, _ frame: LastFrame, keys: TierKeys) {
    guard case .changes(let changes) = commit.content else { return }
    var place = frame.boxes.lowerBound
    for part in changes.parts {
      guard !part.changes.isEmpty else { continue }
      let held = HeldPart(part, boxesAt: place)
      place = held.boxesEnd
      let tier = Int(part.tier.rawValue)
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
    for tier in Tier.allCases {
      let index = Int(tier.rawValue)
      if let mac = commit.proofs.macs[index] {
        proofs[index].n = commit.n
        proofs[index].digest = commit.digest
        proofs[index].mac = mac
      } else if commit.proofs.writer != nil {
        proofs[index].n = commit.n
        proofs[index].digest = commit.digest
      }
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
    logged[Int(tier.rawValue)].set(Logged(n: 0, item: item), for: id)
  }

  /// - Throws: ``KeychainError/Code/damaged`` if a tier whose key is at hand has a wrong proof, or a change after its newest one.
  func requireProofs(_ keys: TierKeys) throws(KeychainError) {
    for tier in Tier.allCases {
      let proof = proofs[Int(tier.rawValue)]
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
      let proof = proofs[Int(tier.rawValue)]
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

// MARK: - Items

extension VaultContents {
  /// What one tier has under an id.
  func item(_ id: ItemID, in tier: Tier, _ keys: TierKeys) throws(KeychainError) -> VaultItem? {
    if let logged = logged[Int(tier.rawValue)][id] { return logged.item }
    guard let number = index.page(of: id, in: tier) else { return nil }
    let held = try page(number, in: tier, keys)
    var low = 0
    let puts = held.puts
    var high = puts.count
    while low < high {
      let middle = (low + high) / 2
      if puts[middle].id < id { low = middle + 1 } else { high = middle }
    }
    guard low < puts.count, puts[low].id == id else { return nil }
    return VaultItem(puts[low], in: held, low)
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

  func page(_ number: Int, in tier: Tier, _ keys: TierKeys) throws(KeychainError) -> HeldPart {
    let page = index.pages[Int(tier.rawValue)][number]
    if let known = pages.page(page, of: tier) { return known }
    let held = try uncachedPage(number, in: tier, keys)
    pages.keep(held, page)
    return held
  }

  private func uncachedPage(
    _ number: Int, in tier: Tier, _ keys: TierKeys
  ) throws(KeychainError) -> HeldPart {
    let page = index.pages[Int(tier.rawValue)][number]
    let box = try read(page.place..<page.place + page.length)
    guard try Derivation.hash(box, count: 32) == page.hash,
      let part = try Part.openPage(box, tier: tier, keys: keys),
      index.describes(part, page: number)
    else { throw .damagedVault(path, "a page of \(page.count) items is not what was written") }
    let held = HeldPart(part, boxesAt: page.boxesPlace)
    guard held.boxesEnd <= head.lengths.log else {
      throw .damagedVault(path, "a page of \(page.count) items lies outside of its file")
    }
    return held
  }

  /// Adds the boxes of one more page of a tier to the count.
  ///
  /// - Throws: ``KeychainError/Code/damaged`` if there are more than the file can hold: pages that share boxes make a small file
  ///   endless for whoever goes through all of them.
  func requireOwnBoxes(
    of held: HeldPart, _ page: VaultIndex.Page, _ count: inout Int
  ) throws(KeychainError) {
    count += held.boxesEnd - page.boxesPlace
    guard count <= head.lengths.log else {
      throw .damagedVault(path, "its pages share the boxes of their secrets")
    }
  }

  /// What a walk through all items finds.
  enum Visited {
    case item(VaultItem)
    /// A page that is damaged, with the id of its first item.
    case damagedPage(VaultIndex.Page)
    /// An item that one of a higher tier hides.
    case shadowed(VaultItem)
  }

  /// Calls `body` with the items of all tiers, T2 first, in the order of their ids.
  func forEachItem(
    _ keys: TierKeys, _ body: (Visited) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    var higher: Set<ItemID> = []
    for tier in Tier.allCases.reversed() {
      let hides = hasItems(below: tier)
      var own: Set<ItemID> = []
      try forEachItem(of: tier, keys) { visited throws(KeychainError) in
        guard case .item(let item) = visited else { return try body(visited) }
        guard !higher.contains(item.id) else { return try body(.shadowed(item)) }
        if hides { own.insert(item.id) }
        try body(visited)
      }
      higher.formUnion(own)
    }
  }

  /// Whether a lower tier has anything that this one could hide.
  func hasItems(below tier: Tier) -> Bool {
    (0..<Int(tier.rawValue)).contains { !index.pages[$0].isEmpty || !logged[$0].isEmpty }
  }

  /// Calls `body` with what one tier has, in the order of the ids.
  func forEachItem(
    of tier: Tier, _ keys: TierKeys, _ body: (Visited) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    let logged = self.logged[Int(tier.rawValue)].all
    var new = logged.values.compactMap(\.item).sorted { $0.id < $1.id }[...]
    var boxesCount = 0
    for (number, page) in index.pages[Int(tier.rawValue)].enumerated() {
      let held: HeldPart
      do throws(KeychainError) {
        held =
          if let known = pages.page(page, of: tier) { known } else {
            try uncachedPage(number, in: tier, keys)
          }
        try requireOwnBoxes(of: held, page, &boxesCount)
      } catch {
        guard error.code == .damaged else { throw error }
        try body(.damagedPage(page))
        continue
      }
      for (index, entry) in held.puts.enumerated() {
        while let next = new.first, next.id < entry.id {
          new.removeFirst()
          try body(.item(next))
        }
        if logged[entry.id] == nil { try body(.item(VaultItem(entry, in: held, index))) }
      }
    }
    for item in new { try body(.item(item)) }
  }
}
