internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

/// What a new base holds.
protocol NewBase {
  /// All keys of the new base, with its writer's signing key in a shared vault.
  var keys: TierKeys { get }
  var number: UInt64 { get }
  /// The digest of the commit before it.
  var previous: Data { get }
  var spine: Spine { get throws(KeychainError) }
  /// Whether the vault has so many items that its pages are larger.
  var hasManyItems: Bool { get }
  /// Signs it, if it is the first one of a list.
  var administration: AdministrationKey? { get }
  var serial: UInt64 { get }

  /// The head, but for the lengths of what follows it: the same at each call.
  var head: HeadParts { get throws(KeychainError) }

  /// Puts all items, tier by tier, in the order of their ids.
  func putItems(into writer: inout BaseWriter) throws(KeychainError)
}

/// Writes a vault's file: head, pages and boxes, index, spine, and the commit that is its base.
struct BaseWriter {
  private let file: any DiskFile
  private let path: String
  private let keys: TierKeys
  private let pageCount: Int
  private var place: Int
  private var buffer: [Data] = []
  private var bufferCount = 0
  private var pages: [[VaultIndex.Page]] = [[], [], []]
  private var open = OpenPage()

  /// The page that is being filled; its boxes are written already.
  private struct OpenPage {
    var items: [SealedItem] = []
    var count = 0
    var boxesPlace = 0
  }

  private static let bufferLimit = 1 << 20

  /// - Returns: the head that was written; the file is synced.
  static func write(
    _ new: some NewBase, to file: any DiskFile, path: String
  ) throws(KeychainError) -> VaultHead {
    let count = try new.head.encoded().count
    var writer = BaseWriter(
      file, path, new.keys, from: count, pageCount: new.hasManyItems ? 16384 : 4096)
    try new.putItems(into: &writer)
    return try writer.finish(new)
  }

  private init(
    _ file: any DiskFile, _ path: String, _ keys: TierKeys, from place: Int, pageCount: Int
  ) {
    self.file = file
    self.path = path
    self.keys = keys
    self.place = place
    self.pageCount = pageCount
  }

  /// Adds an item; those of one tier follow each other, in the order of their ids.
  mutating func put(_ item: SealedItem) throws(KeychainError) {
    let count = item.entry.count + 4 + item.metadata.bytes.count
    if let first = open.items.first,
      first.entry.tier != item.entry.tier || open.count + count > pageCount
    {
      try closePage()
    }
    if open.items.isEmpty { open.boxesPlace = place }
    try append(item.box)
    open.items.append(
      SealedItem(entry: item.entry, metadata: item.metadata, box: Data()))
    open.count += count
  }

  /// Copies a page and its boxes, sealed as they are.
  mutating func copy(
    _ page: VaultIndex.Page, _ held: HeldPart, of contents: VaultContents
  ) throws(KeychainError) {
    try closePage()
    let boxesPlace = place
    var source = page.boxesPlace
    while source < held.boxesEnd {
      let next = min(source + Self.bufferLimit, held.boxesEnd)
      try append(contents.read(source..<next))
      source = next
    }
    let sealed = try contents.read(page.place..<page.place + page.length)
    guard try Derivation.hash(sealed, count: 32) == page.hash else {
      throw .damagedVault(contents.path, "a page changed while it was copied")
    }
    pages[held.part.tier].append(
      VaultIndex.Page(
        first: page.first, count: page.count, place: place, length: page.length, hash: page.hash,
        boxesPlace: boxesPlace))
    try append(sealed)
  }

  private mutating func closePage() throws(KeychainError) {
    guard let first = open.items.first else { return }
    let tier = first.entry.tier
    let box = try Part(tier, puts: open.items, removes: [], keys: keys).sealedPage(keys: keys)
    pages[tier].append(
      VaultIndex.Page(
        first: first.entry.id, count: open.items.count, place: place, length: box.count,
        hash: try Derivation.hash(box, count: 32), boxesPlace: open.boxesPlace))
    try append(box)
    open = OpenPage()
  }

  private mutating func append(_ bytes: Data) throws(KeychainError) {
    buffer.append(bytes)
    bufferCount += bytes.count
    place += bytes.count
    if bufferCount >= Self.bufferLimit { try flush() }
  }

  private mutating func flush() throws(KeychainError) {
    do throws(Errno) {
      try file.write(buffer, at: place - bufferCount)
    } catch {
      throw .vault(path, error, doing: "write")
    }
    buffer = []
    bufferCount = 0
  }

  private mutating func finish(_ new: some NewBase) throws(KeychainError) -> VaultHead {
    try closePage()
    let spine = try new.spine.sealed(keys: keys)
    let index = try VaultIndex(pages: pages, spineHash: Derivation.hash(spine, count: 32))
      .sealed(keys: keys)
    try append(index)
    try append(spine)
    let bytes = try new.head.encoded(index: index.count, spine: spine.count, log: place)
    let head = try VaultHead(bytes, path: path)
    let base = Commit.Base(
      serial: new.serial, headHash: try head.hash(),
      indexHash: try Derivation.hash(index, count: 32))
    let (_, box) = try Commit.seal(
      n: new.number, previous: new.previous, time: Date().microseconds ?? 0,
      writer: keys.signer?.number ?? 0, content: .base(base), keys: keys, signer: keys.signer,
      administration: new.administration)
    let header = FrameHeader(n: new.number, boxCount: box.count, boxesCount: 0)
    try append(header.encoded(epoch: head.epoch, open: keys.open) + box)
    try flush()
    do throws(Errno) {
      try file.write([bytes], at: 0)
      try file.sync()
    } catch {
      throw .vault(path, error, doing: "write")
    }
    return head
  }
}

/// A new base of the same keys, with what the log or a transaction changed, and perhaps with another list of members.
struct CarriedBase: NewBase {
  let contents: VaultContents
  let keys: TierKeys
  let head: HeadParts
  let serial: UInt64
  let administration: AdministrationKey?

  init(_ contents: VaultContents, _ keys: TierKeys) {
    self.contents = contents
    self.keys = keys
    head = contents.head.parts
    serial = contents.list.serial
    administration = nil
  }

  init(
    _ contents: VaultContents, _ keys: TierKeys, _ members: SignedMembers,
    signedBy administration: AdministrationKey
  ) {
    self.contents = contents
    self.keys = keys
    head = members.head
    serial = members.list.serial
    self.administration = administration
  }

  var number: UInt64 { contents.newest.n + 1 }
  var previous: Data { contents.newest.digest }
  var spine: Spine { get throws(KeychainError) { try contents.spineOfNextBase(keys) } }
  var hasManyItems: Bool { contents.hasManyItems }

  func putItems(into writer: inout BaseWriter) throws(KeychainError) {
    // From the highest tier on: what a lower one has of the same ids is shadowed.
    var hidden: Set<ItemID> = []
    for tier in Tier.allCases.reversed() {
      let ids = try putItems(
        of: tier, hiddenBy: hidden, into: &writer, noting: contents.hasItems(below: tier))
      hidden.formUnion(ids)
    }
  }

  /// Copies the pages that nothing touched, and makes the others again.
  ///
  /// It returns the ids of the tier's items, if anybody asks for them.
  private func putItems(
    of tier: Tier, hiddenBy hidden: Set<ItemID>, into writer: inout BaseWriter, noting: Bool
  ) throws(KeychainError) -> [ItemID] {
    let logged = contents.logged[tier].all
    let pages = contents.index.pages[tier]
    var new = logged.values.compactMap(\.item).sorted { $0.id < $1.id }[...]
    var ids = noting ? new.map(\.id) : []
    var boxesCount = 0
    for (number, page) in pages.enumerated() {
      let held = try contents.page(number, in: tier, keys)
      try contents.requireOwnBoxes(of: held, page, &boxesCount)
      if noting { ids += held.puts.lazy.map(\.id).filter { logged[$0] == nil } }
      let end = number + 1 < pages.count ? pages[number + 1].first : nil
      let isTouched =
        held.puts.contains { logged[$0.id] != nil || hidden.contains($0.id) }
        || new.first.map { next in end.map { next.id < $0 } ?? true } ?? false
      guard isTouched else {
        try writer.copy(page, held, of: contents)
        continue
      }
      for (index, entry) in held.puts.enumerated() {
        while let next = new.first, next.id < entry.id {
          new.removeFirst()
          try put(next, hidden, &writer)
        }
        guard logged[entry.id] == nil else { continue }
        try put(VaultItem(entry, in: held, index), hidden, &writer)
      }
      while let next = new.first, let end, next.id < end {
        new.removeFirst()
        try put(next, hidden, &writer)
      }
    }
    for item in new { try put(item, hidden, &writer) }
    return ids
  }

  private func put(
    _ item: VaultItem, _ hidden: Set<ItemID>, _ writer: inout BaseWriter
  ) throws(KeychainError) {
    guard !hidden.contains(item.id) else { return }
    if case .pending(let sealed) = item.source { return try writer.put(sealed) }
    let (metadata, index) = try item.metadata(keys, name: item.name)
    // A box that is damaged is carried, and stays damaged: its hash says so.
    try writer.put(
      SealedItem(
        entry: item.entry, metadata: try metadata.copy(at: index), box: item.box(in: contents)))
  }
}

extension VaultContents {
  /// The spine of a base that follows the newest commit.
  func spineOfNextBase(_ keys: TierKeys) throws(KeychainError) -> Spine {
    try spine.known(self, keys).spine.following((0..<bodyHashes.count).map { bodyHashes[$0] })
  }

  /// More than 10,000 items, about.
  var hasManyItems: Bool { itemCount > 10_000 }
}
