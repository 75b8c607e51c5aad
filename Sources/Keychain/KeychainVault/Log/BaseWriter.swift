internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// A new base, except its items.
struct NewBase {
  /// All keys of the new base; in a shared vault, also the writer's signing key.
  let keys: TierKeys
  var head: HeadParts
  var serial: UInt64
  /// Signs the base if it is the first one of a list.
  var administration: AdministrationKey?
  let previous: (n: UInt64, digest: Data)
  let spine: SpineCache.Known
  /// The maximum number of bytes of a page's entries and metadata; a longer page is split.
  let pageLimit: Int

  /// Puts all items, by tier, in the order of their ids.
  let putItems: (inout BaseWriter) throws(KeychainError) -> Void
}

extension NewBase {
  init(_ epoch: VaultEpoch, kind: VaultKind, _ slots: [ListedSlot]) throws(KeychainError) {
    let identity = epoch.identity
    let first = try Commit.first(identity.id)
    let members = try SignedMembers(
      epoch, MemberList(first: identity, kind, before: first), slots, successions: [])
    self.init(
      keys: epoch.keys, head: members.head, serial: 1, administration: epoch.administration,
      previous: (0, first), spine: .init(spine: try Spine.first(identity.id), digests: [first]),
      pageLimit: 4096,
      putItems: { _ in })
  }

  /// Creates the next base of a vault, by default with the same list of members, keys and items.
  init(
    _ contents: VaultContents, _ keys: TierKeys, bringing members: SignedMembers? = nil,
    puttingItems: ((inout BaseWriter) throws(KeychainError) -> Void)? = nil
  ) throws(KeychainError) {
    let carry: (inout BaseWriter) throws(KeychainError) -> Void = { writer throws(KeychainError) in
      try contents.carryItems(keys, into: &writer)
    }
    self.init(
      keys: members?.epoch.keys ?? keys, head: members?.head ?? contents.head.parts,
      serial: (members?.list ?? contents.list).serial,
      administration: members?.epoch.administration, previous: contents.newest,
      spine: try contents.spine.known(contents, keys).following(contents),
      pageLimit: contents.itemCount > 10_000 ? 16384 : 4096, putItems: puttingItems ?? carry)
  }

  /// Writes the file, and reads it as a vault; the caller makes it durable and names it.
  func write(to file: any DiskFile, path: String) throws(KeychainError) -> VaultContents {
    let head = try BaseWriter.write(self, to: file, path: path)
    let made = try VaultContents(
      reading: file, size: file.status(of: path).size, path: path, head: head, keys: keys)
    made.spine.keep(spine)
    return made
  }
}

/// Writes a vault's file: head, pages and boxes, index, spine, and the commit that is its base.
struct BaseWriter {
  private let new: NewBase
  private let file: any DiskFile
  private let path: String
  private var place: Int
  private var buffer = Data()
  private var pages: [[VaultIndex.Page]] = [[], [], []]

  /// The items of the current page, whose boxes are already written.
  private var items: [SealedItem] = []
  private var itemsCount = 0
  private var boxesPlace = 0

  /// Writes a base, and returns its head.
  static func write(
    _ new: NewBase, to file: any DiskFile, path: String
  ) throws(KeychainError) -> VaultHead {
    var writer = BaseWriter(new: new, file: file, path: path, place: new.head.encoded().count)
    try new.putItems(&writer)
    return try writer.finish()
  }

  /// Adds an item, which must follow the one before in the order of tiers and ids.
  mutating func put(_ item: SealedItem) throws(KeychainError) {
    let count = item.entry.count + 4 + item.metadata.count
    if let first = items.first,
      first.entry.tier != item.entry.tier || itemsCount + count > new.pageLimit
    {
      try closePage()
    }
    if items.isEmpty { boxesPlace = place }
    try append(item.box)
    items.append(SealedItem(entry: item.entry, metadata: item.metadata, box: Data()))
    itemsCount += count
  }

  /// Copies a page and its boxes without opening them.
  mutating func copy(
    _ page: VaultIndex.Page, _ held: HeldPart, of contents: VaultContents
  ) throws(KeychainError) {
    try closePage()
    let boxesPlace = place
    try contents.forEachPiece(of: page.boxesPlace..<held.boxesEnd) { piece throws(KeychainError) in
      try append(piece)
    }
    let sealed = try contents.read(page.place..<page.place + page.length)
    guard try Derivation.bytes(hashing: sealed) == page.hash else {
      throw .damagedVault(contents.path, "a page changed while it was copied")
    }
    pages[held.part.tier].append(
      VaultIndex.Page(
        first: page.first, count: page.count, place: place, length: page.length, hash: page.hash,
        boxesPlace: boxesPlace))
    try append(sealed)
  }

  private mutating func closePage() throws(KeychainError) {
    guard let first = items.first?.entry else { return }
    let part = try Part(first.tier, puts: items, removes: [], keys: new.keys)
    let box = try part.sealedPage(keys: new.keys)
    pages[first.tier].append(
      VaultIndex.Page(
        first: first.id, count: items.count, place: place, length: box.count,
        hash: try Derivation.bytes(hashing: box), boxesPlace: boxesPlace))
    try append(box)
    (items, itemsCount) = ([], 0)
  }

  private mutating func append(_ bytes: Data) throws(KeychainError) {
    buffer += bytes
    place += bytes.count
    if buffer.count >= 1 << 20 { try flush() }
  }

  private mutating func flush() throws(KeychainError) {
    try write(buffer, at: place - buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }

  private func write(_ bytes: Data, at place: Int) throws(KeychainError) {
    do throws(Errno) {
      try file.write(bytes, at: place)
    } catch { throw .vault(path, error, doing: "write") }
  }

  private mutating func finish() throws(KeychainError) -> VaultHead {
    try closePage()
    let keys = new.keys
    let spine = try new.spine.spine.sealed(keys: keys)
    let index = try VaultIndex(pages: pages, spineHash: Derivation.hash(spine, count: 32))
      .sealed(keys: keys)
    try append(index)
    try append(spine)
    let bytes = new.head.encoded(index: index.count, spine: spine.count, log: place)
    let head = try VaultHead(bytes, path: path)
    let base = Commit.Base(
      serial: new.serial, headHash: try head.hash(),
      indexHash: try Derivation.hash(index, count: 32))
    let (_, box) = try Commit.seal(
      n: new.previous.n + 1, previous: new.previous.digest, time: Date().microseconds ?? 0,
      writer: keys.signer?.number ?? 0, content: .base(base), keys: keys, signer: keys.signer,
      administration: new.administration)
    let header = FrameHeader(n: new.previous.n + 1, boxCount: box.count, boxesCount: 0)
    try append(header.encoded(epoch: head.epoch, open: keys.open) + box)
    try flush()
    try write(bytes, at: 0)
    return head
  }
}

extension VaultContents {
  /// Copies the unchanged pages, and writes the others again without shadowed items.
  fileprivate func carryItems(
    _ keys: TierKeys, into writer: inout BaseWriter
  ) throws(KeychainError) {
    try forEachPage(keys) { walked throws(KeychainError) in
      if let damage = walked.damage { throw damage }
      if walked.isUnchanged, let page = walked.page, let held = walked.held {
        return try writer.copy(page, held, of: self)
      }
      let boxes = try boxes(of: walked)
      for item in walked.items {
        switch item.source {
        case .pending(let sealed): try writer.put(sealed)
        case .stored(let part, let number):
          let (metadata, index) = try item.metadata(keys, name: item.name)
          // A damaged box is copied too, and stays damaged, because its hash doesn't match.
          let box =
            if let boxes, part === walked.held {
              boxes.dropFirst(part.boxPlaces[number] - part.boxesStart).prefix(item.entry.boxCount)
            } else {
              try item.box(in: self)
            }
          try writer.put(
            SealedItem(entry: item.entry, metadata: metadata.copy(at: index), box: box))
        }
      }
    }
  }

  /// Reads all boxes of a page at once; `nil` if they are long or incomplete.
  private func boxes(of walked: WalkedPage) throws(KeychainError) -> Data? {
    guard let held = walked.held, held.boxesEnd - held.boxesStart <= 1 << 20 else { return nil }
    let boxes = try read(held.boxesStart..<held.boxesEnd)
    return boxes.count == held.boxesEnd - held.boxesStart ? boxes : nil
  }
}

/// A root key with its derived keys, and the administration key that it opens.
struct VaultEpoch: Sendable {
  let root: SharedSecret

  /// All keys; in a shared vault, also the key that signs for the writer.
  let keys: TierKeys
  let identity: HeadIdentity
  let administration: AdministrationKey

  private init(
    id: VaultID, epoch: UInt64, administration: AdministrationKey, signer: CommitSigner?
  ) throws(KeychainError) {
    identity = try HeadIdentity(id: id, epoch: epoch, administration: administration.publicKey)
    root = SharedSecret(try SecretBytes.random(count: 32))
    var keys = try TierKeys(root: root.bytes, of: identity)
    keys.signer = signer
    self.keys = keys
    self.administration = administration
  }

  init(signer: CommitSigner?) throws(KeychainError) {
    try self.init(id: .random(), epoch: 1, administration: .random(), signer: signer)
  }

  /// Creates the epoch after another one and after a `seen` one; its administration key is new
  /// unless `key` is given.
  init(
    after old: VaultHead, key: AdministrationKey?, above seen: UInt64, signer: CommitSigner?
  ) throws(KeychainError) {
    let greatest = HeadIdentity.greatestEpoch
    let epoch = MemberList.number(after: old.epoch, seen: seen, greatest: greatest)
    guard epoch <= greatest else {
      throw KeychainError(
        .damaged, "the vault counts more new keys than it can", recovery: .restoreBackup)
    }
    let administration = if let key { key } else { try AdministrationKey.random() }
    try self.init(id: old.id, epoch: epoch, administration: administration, signer: signer)
  }

  /// Creates the present epoch of a vault.
  init(_ head: VaultHead, root: SharedSecret, keys: TierKeys, administration: AdministrationKey) {
    self.root = root
    self.keys = keys
    identity = head.identity
    self.administration = administration
  }

  private func granted(_ grant: SlotGrant) throws(KeychainError) -> GrantedKey {
    try GrantedKey(grant, root: root, keys: keys)
  }

  /// Gives the keys to a slot, which names the present administration key if its secret was
  /// presented.
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

/// A signed list of members with its slots, as a head contains it.
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
