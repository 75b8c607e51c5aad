internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem

/// A part of a commit or page, with the places of its boxes; its metadata are opened once.
final class HeldPart: Sendable {
  let part: Part
  let puts: [ItemEntry]
  let boxPlaces: [Int]
  let boxesStart: Int
  let boxesEnd: Int
  private let opened = PosixMutex<PartMetadata?>(nil)

  /// Creates the part, whose boxes begin at `start`.
  init(_ part: Part, boxesAt start: Int) {
    self.part = part
    puts = part.puts
    var end = start
    boxPlaces = puts.map { entry in
      defer { end += entry.boxCount }
      return end
    }
    (boxesStart, boxesEnd) = (start, end)
  }

  /// Opens the metadata; `nil` without the key of its tier.
  func metadata(_ keys: TierKeys) throws(KeychainError) -> PartMetadata? {
    if let known = opened.withLock({ $0 }) { return keys.key(part.tier) == nil ? nil : known }
    guard let metadata = try part.metadata(keys) else { return nil }
    opened.withLock { $0 = metadata }
    return metadata
  }
}

/// An item in the file, or in a running transaction.
struct VaultItem: Sendable {
  let entry: ItemEntry
  let source: Source

  enum Source: Sendable {
    /// An item of a part, by the number of its entry.
    case stored(HeldPart, Int)
    case pending(SealedItem)
  }

  var id: ItemID { entry.id }
  var accessibility: Accessibility { entry.accessibility }
  var name: String { entry.id.name }

  /// The unlock state that opens it.
  var requirement: Accessibility.UnlockRequirement { entry.accessibility.unlockRequirement }

  /// Returns sealed metadata, and the item's number among them.
  func metadata(_ keys: TierKeys, name: @autoclosure () -> String) throws(KeychainError)
    -> (PartMetadata, Int)
  {
    switch source {
    case .stored(let part, let index):
      guard let metadata = try part.metadata(keys) else { throw .locked(name()) }
      return (metadata, index)
    case .pending(let item): return (PartMetadata(item.metadata), 0)
    }
  }

  /// Reads the box of its secret from the file; the opener checks its hash.
  func box(in contents: VaultContents) throws(KeychainError) -> Data {
    switch source {
    case .stored(let part, let index):
      let place = part.boxPlaces[index]
      return try contents.read(place..<place + entry.boxCount)
    case .pending(let item): return item.box
    }
  }
}

extension ItemSealing {
  /// Returns the credential.
  func credential(
    of item: VaultItem, name: @autoclosure () -> String
  ) throws(KeychainError) -> Credential {
    guard !isOfOtherDevice(item.entry) else { throw .otherDevice(name()) }
    let (metadata, index) = try item.metadata(keys, name: name())
    return try credential(metadata, at: index, of: item.entry, name: name())
  }

  func secret(
    of item: VaultItem, in contents: VaultContents, name: @autoclosure () -> String
  ) throws(KeychainError) -> SecretBytes {
    try secret(in: item.box(in: contents), of: item.entry, name: name())
  }
}

/// The damaged pages of a vault, in runs: the number of names in a report depends on the good pages
/// between them.
struct DamagedPages: Hashable, Sendable {
  private struct Run: Hashable, Sendable {
    let first: ItemID
    var count: Int
  }

  private var runs: [Run] = []

  /// The ids of the first items of the pages, which may have newer versions that are intact.
  private(set) var firsts: Set<ItemID> = []

  mutating func note(_ walked: VaultContents.WalkedPage) {
    guard let page = walked.damaged else { return }
    firsts.insert(page.first)
    if walked.followsDamage, !runs.isEmpty {
      runs[runs.count - 1].count += page.count
    } else {
      runs.append(Run(first: page.first, count: page.count))
    }
  }

  /// The names of the items, in runs, because damaged items can't be told apart.
  var names: [String] { runs.map { "\($0.count) items from \($0.first.name) on" } }
}

extension VaultContents {
  /// Returns the item of a tier with an id.
  func item(_ id: ItemID, in tier: Tier, _ keys: TierKeys) throws(KeychainError) -> VaultItem? {
    if let logged = logged[tier][id] { return logged.item }
    guard let number = index.page(of: id, in: tier) else { return nil }
    let held = try page(number, in: tier, keys, isKept: true)
    return held.puts.firstIndex { $0.id == id }.map {
      VaultItem(entry: held.puts[$0], source: .stored(held, $0))
    }
  }

  /// Returns the item with an id in the highest tier that has it, whether or not its key is
  /// available.
  func item(
    _ id: ItemID, _ keys: TierKeys, name: @autoclosure () -> String
  ) throws(KeychainError) -> VaultItem? {
    do throws(KeychainError) {
      for tier in Tier.allCases.reversed() {
        if let found = try item(id, in: tier, keys) { return found }
      }
      return nil
    } catch { throw error.code == .damaged ? .damagedItem(name()) : error }
  }

  /// Returns a page; a verified one is kept, unless all pages are read in sequence.
  private func page(
    _ number: Int, in tier: Tier, _ keys: TierKeys, isKept: Bool
  ) throws(KeychainError) -> HeldPart {
    let page = index.pages[tier][number]
    if let known = pages.page(page, of: tier) { return known }
    let box = try read(page.place..<page.place + page.length)
    guard try Derivation.bytes(hashing: box) == page.hash,
      let part = try Part.openPage(box, tier: tier, keys: keys),
      index.describes(part, page: number)
    else { throw .damagedVault(path, "a page of \(page.count) items was changed") }
    let held = HeldPart(part, boxesAt: page.boxesPlace)
    guard held.boxesEnd <= head.lengths.log else {
      throw .damagedVault(path, "a page of \(page.count) items lies outside of its file")
    }
    if isKept { pages.keep(held, page) }
    return held
  }

  /// The approximate number of items: an item that a transaction replaced counts twice.
  var itemCount: Int {
    index.pages.joined().reduce(0) { $0 + $1.count }
      + logged.joined().count { $0.value.item != nil }
  }

  /// Counts the items by class, as far as T0 shows; damaged pages count as unknown.
  func itemCounts(
    _ keys: TierKeys
  ) throws(KeychainError) -> (known: [Accessibility: Int], damaged: Int) {
    var (known, damaged): ([Accessibility: Int], Int) = ([:], 0)
    try forEachPage(keys) { walked throws(KeychainError) in
      if let page = walked.damaged { damaged += page.count }
      for item in walked.items { known[item.accessibility, default: 0] += 1 }
    }
    return (known, damaged)
  }

  /// A page with the items in its range of ids, including changes in the log.
  struct WalkedPage {
    /// The page; `nil` if the tier has none.
    var page: VaultIndex.Page?
    var held: HeldPart?
    var damage: KeychainError?
    var items: [VaultItem] = []

    /// Items that an item in a higher tier hides.
    var shadowed: [VaultItem] = []

    /// Whether the items are exactly those of the page.
    var isUnchanged = false

    /// The page, if it is damaged.
    var damaged: VaultIndex.Page? { damage == nil ? nil : page }

    /// Whether the page before it, in the same tier, is also damaged.
    var followsDamage = false
  }

  /// Calls `body` with the pages of all tiers, T2 first, in the order of their ids.
  func forEachPage(
    _ keys: TierKeys, _ body: (WalkedPage) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    let time = ReadingTime(deadline)
    var higher: Set<ItemID> = []
    for tier in Tier.allCases.reversed() {
      var walk = TierWalk(self, tier)
      for number in 0..<max(index.pages[tier].count, 1) {
        try time.require(path)
        try body(walk.page(number, keys, &higher))
      }
    }
  }

  /// A walk through the pages of a tier; it is separate from ``forEachPage(_:_:)``, which is
  /// compiled for each closure.
  private struct TierWalk {
    private let contents: VaultContents
    private let tier: Tier
    private let canHide: Bool
    private var new: ArraySlice<VaultItem>
    private var (count, isDamaged) = (0, false)

    init(_ contents: VaultContents, _ tier: Tier) {
      (self.contents, self.tier) = (contents, tier)
      canHide = Tier.allCases.prefix { $0 != tier }.contains { contents.hasItems(in: $0) }
      new = contents.logged[tier].values.compactMap(\.item).sorted { $0.id < $1.id }[...]
    }

    /// Returns the next page; an item whose id is in `higher` is hidden.
    mutating func page(
      _ number: Int, _ keys: TierKeys, _ higher: inout Set<ItemID>
    ) throws(KeychainError) -> WalkedPage {
      let (pages, changes) = (contents.index.pages[tier], contents.logged[tier])
      var walked = WalkedPage()
      var own: [VaultItem] = []
      if number < pages.count {
        walked.page = pages[number]
        walked.followsDamage = isDamaged
        do throws(KeychainError) {
          try contents.requireOwnBytes(pages[number].length, &count)
          let held = try contents.page(number, in: tier, keys, isKept: false)
          try contents.requireOwnBytes(held.boxesEnd - pages[number].boxesPlace, &count)
          walked.held = held
          for (index, entry) in held.puts.enumerated() where changes[entry.id] == nil {
            own.append(VaultItem(entry: entry, source: .stored(held, index)))
          }
        } catch let error where error.code == .damaged {
          walked.damage = error
        }
        isDamaged = walked.damage != nil
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
      return walked
    }
  }

  /// Fails if the pages of a tier and their boxes together are longer than the file: reading
  /// overlapping ones could take forever.
  private func requireOwnBytes(_ new: Int, _ count: inout Int) throws(KeychainError) {
    guard new <= head.lengths.log - count else {
      throw .damagedVault(path, "its pages share bytes")
    }
    count += new
  }
}

final class PageCache: Sendable {
  private static let limit = 16
  private let kept = PosixMutex<[(page: VaultIndex.Page, held: HeldPart)]>([])

  func page(_ page: VaultIndex.Page, of tier: Tier) -> HeldPart? {
    kept.withLock { $0.first { $0.page == page && $0.held.part.tier == tier }?.held }
  }

  func keep(_ held: HeldPart, _ page: VaultIndex.Page) {
    kept.withLock { kept in
      if kept.count == Self.limit { kept.removeFirst() }
      kept.append((page, held))
    }
  }
}
