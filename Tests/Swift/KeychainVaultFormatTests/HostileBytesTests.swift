import Foundation
import KeychainCredentials
import Testing

@testable import KeychainSecrets
@testable import KeychainVaultFormat

/// What is read must be refused or read, whatever its bytes are: a trap ends the process.
@Suite("Hostile bytes")
struct HostileBytesTests {
  private let vault: SampleVault

  init() throws { vault = try SampleVault() }

  /// Calls `read` with changed copies: single bytes, 32-bit and 64-bit extremes, cuts and additions.
  private func mutate(_ bytes: [UInt8], times: Int, _ read: ([UInt8]) throws -> Void) rethrows {
    var random = SplitMix(state: 42)
    for round in 0..<times {
      var copy = bytes
      let place = Int(random.next() % UInt64(bytes.count))
      switch round % 5 {
      case 0: copy[place] = UInt8(truncatingIfNeeded: random.next())
      case 1:
        for index in place..<min(place + 4, copy.count) { copy[index] = 255 }
      case 2:
        for index in place..<min(place + 8, copy.count) { copy[index] = round % 2 == 0 ? 255 : 0 }
      case 3: copy.removeSubrange(place...)
      default: copy.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
      }
      try read(copy)
    }
  }

  private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
      return value ^ (value >> 31)
    }
  }

  @Test func ofHeads() throws {
    let (head, _) = try vault.head()
    mutate(Array(head.bytes), times: 1000) { bytes in
      do throws(KeychainError) {
        let bytes = Data(bytes)
        let lengths = try VaultHead.lengths(prefix: bytes, fileLength: 1 << 20, path: "vault")
        #expect(!lengths.pagesRange.isEmpty || lengths.spineRange.upperBound == lengths.log)
        _ = try VaultHead(bytes, path: "vault").openList(vault.keys.open)
      } catch {
        #expect([.damaged, .foreign, .unsupportedFormat].contains(error.code))
      }
    }
  }

  @Test func ofMembers() throws {
    let (_, list) = try vault.head()
    mutate(list.fields, times: 1000) { bytes in
      if let read = MemberList(bytes.span.bytes) { #expect(read.fields == bytes) }
    }
  }

  @Test func ofCommits() throws {
    let items = try [vault.item("a"), vault.item("b", .always), vault.item("c", .afterFirstUnlock)]
    let removed = try vault.item("gone").entry.id
    let previous = try Commit.first(vault.identity.id)
    let (commit, _) = try vault.commit(n: 1, after: previous, items, removes: [removed])
    let body = Commit.body(n: 1, time: 5, writer: 0, content: commit.content)
    let plain = Commit.plaintext(previous: previous, body: body, proofs: commit.proofs)
    try mutate(plain, times: 1000) { bytes in
      let padded = Sealing.padded(fields: bytes)
      guard let read = try Commit.read(padded.span.bytes, n: 1) else { return }
      let body = Commit.body(n: 1, time: read.time, writer: read.writer, content: read.content)
      let again = Commit.plaintext(previous: read.previous, body: body, proofs: read.proofs)
      // What is read is read in its only form.
      #expect(again == bytes)
    }
    mutate(Sealing.padded(fields: plain), times: 500) { _ = try? Commit.read($0.span.bytes, n: 1) }
  }

  @Test func ofPagesAndMetadata() throws {
    let items = try (0..<4).map { try vault.item("account \($0)") }
    let part = try Part(.unlocked, puts: items, removes: [], keys: vault.keys)
    let pageKey = try vault.keys.boxKey("pk3/page")
    try mutate(FieldWriter.fields(part.write), times: 1000) { bytes in
      let box = try Sealing.seal(fields: bytes, with: pageKey.bytes)
      _ = try Part.openPage(box, tier: .unlocked, keys: vault.keys)?.boxesCount
    }
    let plain = FieldWriter.fields { writer in
      for item in items { writer.byteString(item.metadata) }
    }
    let namesKey = try #require(try vault.keys.namesKey(.unlocked))
    try mutate(plain, times: 1000) { bytes in
      let inner = try Sealing.seal(fields: Sealing.padded(fields: bytes), with: namesKey.bytes)
      let read = try PartMetadata(inner, count: 4, with: namesKey)
      for index in 0..<4 { _ = read?.credential(at: index, of: part.puts[index]) }
    }
  }

  @Test func ofIndexesAndSpines() throws {
    let indexKey = try vault.keys.boxKey("pk3/index")
    try mutate(vault.index(pages: 20).fields, times: 1000) { bytes in
      let box = try Sealing.seal(fields: bytes, with: indexKey.bytes)
      let index = try VaultIndex.open(box, keys: vault.keys, file: 900..<2000)
      for page in index?.pages.joined() ?? [].joined() {
        #expect(page.place >= 900 && page.place + page.length <= 2000)
      }
    }
    let hashes = (0..<9).map { Data(repeating: $0, count: 32) }
    let spine = Spine(m: 0, digest: try Commit.first(vault.identity.id), hashes: hashes)
    let spineKey = try vault.keys.boxKey("pk3/spine")
    try mutate(spine.fields, times: 500) { bytes in
      let box = try Sealing.seal(fields: bytes, with: spineKey.bytes)
      _ = try Spine.open(box, before: 10, of: vault.identity.id, keys: vault.keys)?.digests()
    }
  }

  @Test func ofFrameHeaders() throws {
    let header = FrameHeader(n: 7, boxCount: 40 + 256, boxesCount: 9)
    let encoded = try header.encoded(epoch: 2, open: vault.keys.open)
    let read = { (bytes: [UInt8], offset: Int, numbers: ClosedRange<UInt64>) in
      FrameHeader(
        bytes.span.bytes, at: offset, epoch: 2, open: vault.keys.open, numbers: numbers)
    }
    let bytes = [1, 2, 3] + Array(encoded)
    #expect(read(bytes, 3, 7...7) == header)
    #expect(read(bytes, 3, 8...9) == nil)
    for offset in [-1, 0, 2, 4, 35, .max] { #expect(read(bytes, offset, 0 ... .max) == nil) }
    mutate(Array(encoded), times: 500) { changed in
      #expect(Data(changed.prefix(32)) == encoded || read(changed, 0, 0 ... .max) == nil)
    }
    #expect(header.totalCount == 32 + 296 + 9)
    // No padded text has these lengths.
    for count in [0, 40 + 255, 40 + 257, 2 << 20] {
      let odd = FrameHeader(n: 7, boxCount: count, boxesCount: 0)
      #expect(try read(Array(odd.encoded(epoch: 2, open: vault.keys.open)), 0, 7...7) == nil)
    }
  }

  @Test func ofSuccessionsAndRecords() throws {
    let succession = try Succession(
      id: vault.identity.id, epoch: 2, oldKey: Data(count: 32), newKey: Data(count: 32),
      lastList: Data(count: 32),
      recovery: CommitSigner(number: 4, seed: SharedSecret(SecretBytes.random(count: 32))))
    mutate(Array(succession.encoded), times: 300) { bytes in
      guard let read = try? Succession(Data(bytes), of: vault.identity.id) else { return }
      #expect(
        bytes == Array(succession.encoded)
          || !read.isFollowed(trustingRecovery: succession.recoveryKey))
    }
  }

  @Test func ofGreatCountsReserveNothing() {
    // Four thousand million changes, pages and hashes, of which not one is there.
    let count = [UInt8](repeating: 255, count: 4)
    var reader = FieldReader()
    #expect(throws: FieldReader.Malformed.self) {
      try Part(&reader, count.span.bytes, tier: .open)
    }
    var other = FieldReader()
    #expect(throws: FieldReader.Malformed.self) {
      try other.list(count.span.bytes, ofSize: 1, Data.init)
    }
  }
}
