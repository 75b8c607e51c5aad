import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

@Suite("Parts of a vault, written and read")
struct FormatTests {
  private let vault: SampleVault

  init() throws { vault = try SampleVault() }

  @Test func aHeadIsRead() throws {
    let (head, list) = try vault.head()
    #expect(head.slots.map(\.number) == [1, 2])
    #expect(head.malformed.isEmpty)
    #expect(head.lengths.indexRange == 4816..<4916)
    #expect(head.lengths.spineRange == 4916..<5000)
    #expect(head.owns(vault.keys))
    #expect(try head.openList(vault.keys.open) == list)
    let key = try SecretBytes(copying: String(repeating: "k", count: 32))
    let opened = try SlotSealing.open(
      head.slots[1], inputKey: KeyFile.inputKey(key), vault: head.id)
    let slot = try #require(opened)
    #expect(try list.requireListed(head.slots[1], openedBy: slot.keys).name == "stick")
    #expect(try slot.granted.tierKeys(of: head)?.checks == vault.keys.checks)
  }

  @Test func aHeadNeedsExactlyTheSlotsOfItsList() throws {
    let (head, _) = try vault.head()
    for slots in [Array(head.parts.slots.dropLast()), head.parts.slots + [Data([9])]] {
      let other = try Self.head(head, slots: slots)
      let error = #expect(throws: KeychainError.self) { try other.openList(vault.keys.open) }
      #expect(error?.code == .damaged)
    }
    // Their order is free: it says which one is tried first.
    let turned = try Self.head(head, slots: head.parts.slots.reversed())
    #expect(try turned.openList(vault.keys.open).members.count == 2)
  }

  private static func head(_ head: VaultHead, slots: [Data]) throws -> VaultHead {
    var parts = head.parts
    parts.slots = slots
    return try VaultHead(
      parts.encoded(
        index: head.lengths.index, spine: head.lengths.spine, log: head.lengths.log), path: "vault")
  }

  @Test func slotsThatAreNotKnownArePassedOver() throws {
    let (head, _) = try vault.head()
    var unknownKind = head.parts.slots[0]
    unknownKind.replaceSubrange(0..<5, with: [8, 0, 0, 0, 77])
    var malformed = head.parts.slots[1].dropLast()
    malformed[0] = 9
    let found = try Self.head(head, slots: [unknownKind, malformed, Data([1])] + head.parts.slots)
    #expect(found.slots == head.slots)
    #expect(found.malformed == [.keyFile, nil])
    #expect(found.parts.slots.count == 5)
    #expect(throws: KeychainError.self) {
      try Self.head(head, slots: head.parts.slots + [head.parts.slots[0]])
    }
  }

  @Test(arguments: [
    ("SQLite format 3\0", KeychainError.Code.unsupportedFormat), ("", .foreign),
    ("a text that is no vault at all...", .foreign), ("PKVAULT\n", .damaged),
    ("PKVAULT\n\u{4}\0\0\0....................", .unsupportedFormat),
  ])
  func otherFilesAreRecognized(_ beginning: String, _ code: KeychainError.Code) {
    let error = #expect(throws: KeychainError.self) {
      try VaultHead.lengths(prefix: Data(beginning.utf8), fileLength: 1 << 20, path: "vault")
    }
    #expect(error?.code == code)
  }

  @Test func noPassphraseHasAnotherCost() throws {
    let passphrase = try SecretBytes(copying: "passphrase")
    let cost = PasswordHash.Parameters(memory: 8192, passes: 1)
    let error = #expect(throws: KeychainError.self) {
      _ = try SlotInput.passphrase(passphrase, cost)
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test func lengthsMustFitInTheFile() throws {
    let (head, _) = try vault.head()
    let read = { try VaultHead.lengths(prefix: head.bytes, fileLength: $0, path: "vault") }
    #expect(try read(5000).head == head.bytes.count)
    #expect(throws: KeychainError.self) { try read(4999) }
    for lengths in [
      VaultHead.Lengths(head: 0, index: 5000, spine: 0, log: 5000),
      VaultHead.Lengths(head: 0, index: -1, spine: 0, log: .max),
      VaultHead.Lengths(head: 0, index: 100, spine: 32_853, log: 1 << 20),
    ] {
      #expect(throws: KeychainError.self) { try vault.head(lengths: lengths) }
    }
  }

  @Test func aCommitIsRead() throws {
    let items = try [vault.item("a"), vault.item("b", .always), vault.item("c", .afterFirstUnlock)]
    let removed = try vault.item("gone").entry.id
    let previous = try Commit.first(vault.identity.id)
    let (made, box) = try vault.commit(n: 8, after: previous, items, removes: [removed])
    let read = try #require(try Commit.open(box, n: 8, keys: vault.keys))
    #expect(read.digest == made.digest)
    #expect(read.changes?.boxesCount == items.reduce(0) { $0 + $1.box.count })
    for tier in Tier.allCases {
      #expect(try read.proofs.macs[tier] == vault.keys.proof(tier, of: read.digest))
    }
    #expect(try Commit.open(box, n: 9, keys: vault.keys) == nil)
    let part = try #require(read.changes?.parts.last)
    #expect(part.changes.contains(.remove(removed)))
    let metadata = try #require(try part.metadata(vault.keys))
    let credential = try vault.sealing.credential(metadata, at: 0, of: part.puts[0], name: "")
    #expect(credential.identity.account == "a")
    #expect(credential.version == items[0].entry.version)
    #expect(
      try vault.sealing.secret(in: items[0].box, of: part.puts[0], name: "").hexadecimal()
        == Data("secret".utf8).hexadecimal)
  }

  @Test func aCommitOfT0ProvesItsTierAlone() throws {
    let keys = vault.keys.openTierOnly
    let (_, box) = try vault.commit(
      n: 1, after: Commit.first(vault.identity.id), [vault.item("b", .always)], keys: keys)
    let read = try #require(try Commit.open(box, n: 1, keys: vault.keys))
    #expect(try read.proofs.macs == [vault.keys.proof(.open, of: read.digest), nil, nil])
    #expect(try read.changes?.parts[2].metadata(keys) == nil)
    let error = #expect(throws: KeychainError.self) {
      try Part(.unlocked, puts: [vault.item("a")], removes: [], keys: keys)
    }
    #expect(error?.code == .locked)
    let base = Commit.Base(serial: 1, headHash: Data(count: 32), indexHash: Data(count: 32))
    #expect(throws: KeychainError.self) {
      try Commit.seal(
        n: 1, previous: Data(count: 32), time: 0, writer: 0, content: .base(base), keys: keys,
        signer: nil, administration: nil)
    }
  }

  @Test func aBaseIsSigned() throws {
    let (head, list) = try vault.head()
    let base = Commit.Base(
      serial: list.serial, headHash: try head.hash(), indexHash: Data(count: 32))
    let (made, box) = try Commit.seal(
      n: list.first, previous: list.before, time: 0, writer: 0, content: .base(base),
      keys: vault.keys, signer: nil, administration: vault.administration)
    let read = try #require(try Commit.open(box, n: list.first, keys: vault.keys))
    #expect(read.base == base)
    #expect(read.isSignedByAdministration(head.administration))
    #expect(!read.isSignedByAdministration(Data(count: 32)))
    #expect(made.hasExpectedProofs(in: list))
    #expect(try !made.hasExpectedProofs(in: list.next(first: 8, before: list.before)))
    #expect(!made.isSigned(in: list))
  }

  @Test func anItemIsOpenedOnlyAsItIs() throws {
    let (item, other) = (try vault.item("a", .alwaysThisDeviceOnly), try vault.item("b", .always))
    let stranger = ItemSealing(keys: vault.keys, device: nil)
    #expect(stranger.isOfOtherDevice(item.entry))
    let open = { (sealing: ItemSealing, box: Data) in
      do throws(KeychainError) {
        _ = try sealing.secret(in: box, of: item.entry, name: "it")
        return KeychainError.Code?.none
      } catch {
        return error.code
      }
    }
    #expect(open(vault.sealing, item.box) == nil)
    #expect(open(stranger, item.box) == .otherDevice)
    #expect(open(vault.sealing, other.box) == .damaged)
    let part = try Part(.open, puts: [item, other], removes: [], keys: vault.keys)
    let metadata = try #require(try part.metadata(vault.keys))
    #expect(throws: KeychainError.self) {
      try vault.sealing.credential(metadata, at: 0, of: part.puts[1], name: "it")
    }
    #expect(metadata.credential(at: 2, of: part.puts[0]) == nil)
    let entry = part.puts[0]
    let misnamed = ItemEntry(
      id: entry.id, accessibility: entry.accessibility, device: entry.device,
      version: entry.version, boxCount: entry.boxCount, boxHash: entry.boxHash,
      service: entry.service ^ 1)
    #expect(throws: KeychainError.self) {
      try vault.sealing.credential(metadata, at: 0, of: misnamed, name: "it")
    }
    #expect(try stranger.credential(metadata, at: 0, of: part.puts[0], name: "").version > 0)
  }

  @Test func metadataHasAsManyTextsAsFit() throws {
    var credential = Credential(
      .genericPassword(service: "", account: ""), attributes: ["a": ""])
    credential.comment = String(repeating: "c", count: Credential.maximumMetadataCount - 1)
    let bytes = MetadataCoding.encode(credential)
    #expect(try MetadataCoding.decode(bytes.span.bytes, .always).comment?.count == 65_535)
    credential.label = "l"
    let longer = MetadataCoding.encode(credential)
    #expect(throws: FieldReader.Malformed.self) {
      try MetadataCoding.decode(longer.span.bytes, .always)
    }
  }

  @Test func aPageHasWhatTheIndexSays() throws {
    let items = try (0..<9).map { try vault.item("account \($0)") }
    let part = try Part(.unlocked, puts: items, removes: [], keys: vault.keys)
    let box = try part.sealedPage(keys: vault.keys)
    let read = try #require(try Part.openPage(box, tier: .unlocked, keys: vault.keys))
    #expect(read.changes == part.changes)
    #expect(try Part.openPage(box, tier: .first, keys: vault.keys) == nil)
    let page = VaultIndex.Page(
      first: part.changes[0].id, count: 9, place: 0, length: box.count,
      hash: try Derivation.bytes(hashing: box), boxesPlace: 0)
    let index = { VaultIndex(pages: [[], [], $0], spineHash: Data(count: 32)) }
    #expect(index([page]).describes(read, page: 0))
    let inside = VaultIndex.Page(
      first: part.changes[8].id, count: 1, place: 0, length: 0, hash: page.hash, boxesPlace: 0)
    #expect(!index([page, inside]).describes(read, page: 0))
    #expect(!index([inside]).describes(read, page: 0))
    #expect(!index([]).describes(read, page: 0))
    let removal = try Part(.unlocked, puts: [], removes: [page.first], keys: vault.keys)
    let bad = try removal.sealedPage(keys: vault.keys)
    #expect(try Part.openPage(bad, tier: .unlocked, keys: vault.keys) == nil)
  }

  @Test func anIndexFindsPages() throws {
    let index = try vault.index(pages: 300)
    let box = try index.sealed(keys: vault.keys)
    let read = try #require(try VaultIndex.open(box, keys: vault.keys, file: 900..<1799))
    #expect(read.pages == index.pages)
    for (number, page) in read.pages[2].enumerated() {
      #expect(read.page(of: page.first, in: .unlocked) == number)
    }
    #expect(read.page(of: read.pages[2][0].first, in: .open) == nil)
    #expect(try VaultIndex.open(box, keys: vault.keys, file: 900..<1798) == nil)
    #expect(try VaultIndex.open(box, keys: vault.keys, file: 901..<1799) == nil)
  }

  @Test func aSpineLeadsToTheBase() throws {
    let id = vault.identity.id
    var digests = [try Commit.first(id)]
    let hashes = (0..<1500).map { Data(repeating: UInt8($0 & 255), count: 32) }
    for hash in hashes {
      digests.append(try Commit.digest(after: digests[digests.count - 1], bodyHash: hash))
    }
    let first = try Spine.first(id).following(Array(hashes.prefix(700)))
    #expect(try first.digests() == Array(digests.prefix(701)))
    let spine = try first.following(Array(hashes.dropFirst(700)))
    #expect(try spine.digests() == Array(digests.suffix(1025)))
    let box = try spine.sealed(keys: vault.keys)
    #expect(box.count == Spine.maximumBoxCount)
    #expect(try Spine.open(box, before: 1501, of: id, keys: vault.keys) == spine)
    #expect(try Spine.open(box, before: 1502, of: id, keys: vault.keys) == nil)
  }

  @Test func aSeenRecordIsRead() throws {
    let (_, list) = try vault.head()
    var record = try SeenRecord(
      id: list.id, administration: list.administration, recoveryKey: nil, epoch: list.epoch,
      serial: list.serial, listHash: list.hash())
    record.proved[1] = SeenCommit(serial: 3, n: 1 << 40, digest: Data(repeating: 4, count: 32))
    #expect(record.encoded.count == 320)
    #expect(SeenRecord(encoded: record.encoded) == record)
    #expect(SeenRecord(encoded: record.encoded.dropLast()) == nil)
    var changed = record.encoded
    changed[7] ^= 1
    #expect(SeenRecord(encoded: changed) == nil)
  }

  /// Anyone who has T0 chooses them.
  @Test func idsOfOneBeginningAreHashedDifferently() {
    let ids = (0..<1000).map { number in
      let bytes = FieldWriter.fields {
        $0.append(Data(repeating: 7, count: 24))
        $0.integer(UInt64(number))
      }
      return ItemID(Bytes32(bytes.span.bytes))
    }
    #expect(Set(ids.map(\.hashValue)).count > 990)
  }

  @Test(
    arguments: [
      (5, 0, 6), (5, 4, 6), (5, 5, 6), (5, 9, 10), (5, 5 + (1 << 20), 6 + (1 << 20)),
      (5, 6 + (1 << 20), 6), (5, 1 << 48, 6), (5, .max, 6), (1 << 47, 1 << 48, (1 << 47) + 1),
      ((1 << 48) - 2, (1 << 48) - 1, 1 << 48), ((1 << 48) - 2, 1 << 48, (1 << 48) - 1),
    ] as [(UInt64, UInt64, UInt64)])
  func numberThatWasSeenDoesNotUseUpTheOthers(_ file: UInt64, _ seen: UInt64, _ next: UInt64) {
    #expect(MemberList.number(after: file, seen: seen, greatest: 1 << 48) == next)
  }

  /// Only a list that an administrator made for that can have them.
  @Test(
    arguments: [
      (MemberList.greatestSerial, 1), (1, MemberList.greatestFirst + 1),
    ] as [(UInt64, UInt64)])
  func noListFollowsTheGreatestNumbers(_ serial: UInt64, _ first: UInt64) throws {
    let (_, list) = try vault.head()
    let last = MemberList(
      id: list.id, epoch: list.epoch, administration: list.administration,
      administrationHash: Data(), serial: serial, accepted: 0, first: 1, before: list.before,
      nextNumber: 1, vaultKind: .local, successions: Data(), members: [])
    let error = #expect(throws: KeychainError.self) {
      try last.next(first: first, before: list.before)
    }
    #expect(error?.code == .damaged)
  }

  @Test func idsAreOrderedAsBytes() throws {
    let ids = try (0..<50).map { _ in
      Data(copying: try SecretBytes.random(count: 32).withBytes { $0.array })
    }
    let bytes = ids.sorted { $0.lexicographicallyPrecedes($1) }
    #expect(ids.map { ItemID(Bytes32($0.bytes)) }.sorted().map(\.data) == bytes)
  }
}
