import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

@Suite("What no export or import does")
struct ExportRefusalTests {
  private let honest: Set<KeychainError.Code> = [
    .damaged, .foreign, .incorrectSecret, .unsupportedFormat,
  ]

  /// Returns a small export, and a vault that must not accept it.
  private func small() throws -> (bytes: [UInt8], test: TestVault) {
    let test = try TestVault()
    let path = try ExportSupport.forge([try .init("a"), try .init("b")], in: test)
    return (Array(try Data(contentsOf: URL(filePath: path))), test)
  }

  @Test func aChangeOfAnyByteIsNoticed() throws {
    let (bytes, test) = try small()
    for index in bytes.indices {
      for mask: UInt8 in [1, 0x80, 0xff] {
        var changed = bytes
        changed[index] ^= mask
        try expectRefusal(of: changed, in: test, "byte \(index)")
      }
    }
  }

  @Test func aCutAnywhereIsNoticed() throws {
    let (bytes, test) = try small()
    for count in bytes.indices {
      try expectRefusal(of: Array(bytes.prefix(count)), in: test, "\(count) bytes")
    }
    for extra in [[0], [10], Array(repeating: 0, count: 65553), bytes] {
      try expectRefusal(of: bytes + extra, in: test, "\(extra.count) bytes more")
    }
  }

  /// Only its tag distinguishes a full last chunk from the others.
  @Test func nothingFollowsAFullLastChunk() throws {
    let test = try TestVault()
    var item = try ExportSupport.Item("a")
    item.secret = Array(repeating: 7, count: 65536 - 33 - item.metadata.count)
    let path = try ExportSupport.forge([item], in: test)
    let bytes = Array(try Data(contentsOf: URL(filePath: path)))
    try #require(bytes.count == 122 + 65553)
    for extra in [[0], Array(bytes.suffix(65553)), Array(repeating: 0, count: 65553)] {
      try expectRefusal(of: bytes + extra, in: test, "\(extra.count) bytes more")
    }
    try expectRefusal(of: Array(bytes.dropLast()), in: test, "a byte less")
  }

  @Test func chunksKeepTheirOrder() throws {
    let test = try TestVault()
    var item = try ExportSupport.Item("a")
    item.secret = Array(repeating: 1, count: 300_000)
    let path = try ExportSupport.forge([item], in: test)
    let bytes = Array(try Data(contentsOf: URL(filePath: path)))
    let beginning = bytes.prefix(122)
    let chunks = stride(from: 122, to: bytes.count, by: 65553).map {
      bytes[$0..<min($0 + 65553, bytes.count)]
    }
    try #require(chunks.count == 5)
    let orders = [
      [1, 0, 2, 3, 4], [0, 2, 1, 3, 4], [0, 2, 3, 4], [1, 2, 3, 4], [0, 1, 2, 4], [0, 1, 2, 3],
      [0, 0, 1, 2, 3, 4], [0, 1, 1, 2, 3, 4], [0, 1, 2, 3, 4, 4], [0, 1, 2, 4, 3], [4], [],
    ]
    for order in orders {
      try expectRefusal(
        of: Array(beginning) + order.flatMap { chunks[$0] }, in: test, "\(order)")
    }
  }

  /// A holder of the passphrase can write any content, but none that breaks the rules is imported.
  @Test func contentMustKeepTheRules() throws {
    let test = try TestVault()
    let good = try ExportSupport.Item("a")
    var forbidden = good
    for accessibility: UInt8 in [1, 3, 5, 6, 7, 255] {
      forbidden.accessibility = accessibility
      try ExportSupport.expectRefusal(of: ExportSupport.forge([forbidden], in: test), in: test)
    }
    var other = good
    other.secret = []
    other.accessibility = 4
    var large = good
    large.secret = Array(repeating: 0, count: (16 << 20) + 1)
    var reserved = good
    reserved.metadata = ExportSupport.metadata(
      Credential(.test("a"), attributes: ["account": "x"]))
    var long = good
    long.metadata = ExportSupport.metadata(
      Credential(.test("a"), comment: String(repeating: "x", count: 1 << 20)))
    var more = good
    more.metadata.append(0)
    var less = good
    less.metadata.removeLast()
    for items in [[good, other], [large], [reserved], [long], [more], [less]] {
      try ExportSupport.expectRefusal(of: ExportSupport.forge(items, in: test), in: test)
    }
    for count: UInt64 in [0, 1, 3, .max] {
      try ExportSupport.expectRefusal(
        of: ExportSupport.forge([good, .init("b")], in: test, count: count), in: test)
    }
    try ExportSupport.expectRefusal(
      of: ExportSupport.forge([good], in: test, trailing: [0]), in: test)
    // A length that does not fit into memory is refused before anything is allocated.
    let huge: [UInt8] = [0, 255, 255, 255, 255]
    try ExportSupport.expectRefusal(
      of: ExportSupport.forge([], in: test, count: 1, trailing: huge), in: test)
    let path = try ExportSupport.forge([good, .init("b")], in: test)
    #expect(
      try test.handle().importItems(from: path, passphrase: ExportSupport.passphrase())
        .addedCount == 2)
  }

  /// Exports may have longer texts than stores.
  @Test func longItemsAreNamedAndNothingIsTaken() throws {
    let test = try TestVault()
    let rest = Credential.maximumMetadataCount - "testa".utf8.count
    let items = try [("a", rest), ("b", rest + 1), ("c", (1 << 20) - 5)].map { account, count in
      var item = try ExportSupport.Item(account)
      item.metadata = ExportSupport.metadata(
        Credential(.test(account), comment: String(repeating: "x", count: count)))
      return item
    }
    let path = try ExportSupport.forge(items, in: test)
    for isDryRun in [true, false] {
      let error = #expect(throws: KeychainError.self) {
        _ = try test.handle().importItems(
          from: path, passphrase: ExportSupport.passphrase(), isDryRun: isDryRun)
      }
      #expect(error?.code == .tooLarge)
      #expect(error?.message.contains("2 credentials") == true)
      for (name, isNamed) in [("'a'", false), ("'b'", true), ("'c'", true)] {
        #expect(error?.message.contains(name) == isNamed)
      }
    }
    #expect(!FileManager.default.fileExists(atPath: test.path))
    let right = try ExportSupport.forge(Array(items.prefix(1)), in: test)
    #expect(
      try test.handle().importItems(from: right, passphrase: ExportSupport.passphrase())
        .addedCount == 1)
  }

  @Test func tagsHaveTheirPlace() throws {
    let test = try TestVault()
    let full = Array(repeating: UInt8(0), count: 65536)
    let cases: [[(bytes: [UInt8], tag: SecretStream.Tag)]] = [
      [([], .final)], [(Array(full.prefix(24)), .message)], [(Array(full.prefix(24)), .push)],
      [(Array(full.prefix(24)), .rekey)], [(Array(full.prefix(24)), .message), ([], .final)],
      [(Array(full.prefix(10)), .message), (Array(full.prefix(14)), .final)],
      [(full + [0], .final)], [(full, .rekey), ([0], .final)], [(full, .push), ([0], .final)],
    ]
    for parts in cases {
      let key = try ExportSupport.key()
      var sealer = try SecretStream.Sealer(key: key.key)
      var bytes = key.beginning + sealer.header
      var additionalData = bytes
      for part in parts {
        bytes += sealer.seal(
          try SecretBytes(copying: part.bytes.span.bytes), tag: part.tag,
          additionalData: additionalData)
        additionalData = []
      }
      try expectRefusal(of: bytes, in: test, "\(parts.map { ($0.bytes.count, $0.tag) })")
    }
  }

  private static let absurdCosts: [(UInt64, UInt32)] = [
    (0, 1), (4096, 1), (8191, 1), (65537, 1), (2 << 30, 1), (.max, 1), (65536, 0), (65536, 11),
    (65536, .max),
  ]

  @Test("The password hash has limits", arguments: absurdCosts)
  func costIsLimited(_ memory: UInt64, _ passes: UInt32) throws {
    var (bytes, test) = try small()
    bytes.replaceSubrange(
      14..<26,
      with: FieldWriter.fields {
        $0.integer(memory)
        $0.integer(passes)
      })
    let path = try write(bytes, in: test)
    let start = ContinuousClock.now
    ExportSupport.expectRefusal(of: path, in: test)
    #expect(ContinuousClock.now - start < .seconds(30))
  }

  /// The positions are those of the lengths of parameters, salt and commitment.
  @Test(arguments: [10, 26, 62], [0, 11, 31, 33, 0x0100_0020, .max] as [UInt32])
  func wrongLengthIsNotAWrongPassphrase(_ place: Int, _ count: UInt32) throws {
    var (bytes, test) = try small()
    bytes.replaceSubrange(place..<(place + 4), with: FieldWriter.fields { $0.integer(count) })
    ExportSupport.expectRefusal(of: try write(bytes, in: test), in: test, [.damaged])
  }

  /// The metadata is refused because of its length, before its missing bytes are noticed.
  @Test func metadataHasALimit() throws {
    let test = try TestVault()
    for count in [UInt32(4 << 20) + 1, .max] {
      let announced = FieldWriter.fields {
        $0.integer(UInt8(0))
        $0.integer(count)
      }
      let path = try ExportSupport.forge([], in: test, count: 1, trailing: announced)
      let error = #expect(throws: KeychainError.self) {
        _ = try test.handle().importItems(from: path, passphrase: ExportSupport.passphrase())
      }
      #expect(error?.code == .damaged && error?.message.contains("too large") == true)
    }
  }

  @Test func strangersAreDistinguished() throws {
    let (bytes, test) = try small()
    for stranger in [
      "", "x", "PKEXPORT", "PKEXPORT1", "SQLite format 3\0", "PKEXPORT\n", "PKEXPORT1\r\n",
      "PKEXPORT2", "PKEXPORT2 \n", "PKEXPORTx\n", "pkexport1\n", "PKEXPORT-1\n", "PKEXPORT2\r\n",
      "PKEXPORT12345678901\n", "PKEXPORT\u{662}\n", " PKEXPORT1\n",
    ] {
      ExportSupport.expectRefusal(of: try test.file("stranger", stranger), in: test, [.foreign])
      let longer = Array(stranger.utf8) + bytes.dropFirst(10)
      ExportSupport.expectRefusal(of: try write(longer, in: test), in: test, [.foreign])
    }
    for version in ["0", "2", "9", "01", "10", "11", "1234567890"] {
      let start = Array("PKEXPORT\(version)\n".utf8)
      for newer in [start, start + bytes.dropFirst(10)] {
        ExportSupport.expectRefusal(of: try write(newer, in: test), in: test, [.unsupportedFormat])
      }
    }
    ExportSupport.expectRefusal(of: test.folder.path, in: test, [.inputOutput])
    ExportSupport.expectRefusal(of: test.folder.path + "/none", in: test, [.inputOutput])
    let path = try write(bytes, in: test)
    #expect(throws: KeychainError.self) {
      _ = try test.handle().importItems(from: path, passphrase: ExportSupport.passphrase("wrong"))
    }
  }

  @Test func aLockedVaultIsNotExported() throws {
    let test = try TestVault()
    let owner = test.handle(passphrase: TestVault.passphrase)
    try owner.create(
      passphrase: SecretBytes(copying: TestVault.passphrase), keyFile: nil, device: true)
    try owner.put("open", "x", .always)
    try owner.put("bound", "x", .whenUnlockedThisDeviceOnly)
    // None of the exported items needs an unlock.
    let path = test.folder.path + "/x.export"
    let report = try test.handle().export(to: path, passphrase: ExportSupport.passphrase())
    #expect(report == .init(itemCount: 1, leftOutCount: 1))
    try owner.put("closed")
    try expect(.locked, leavesNothing: test) {
      _ = try test.handle().export(
        to: test.folder.path + "/y.export", passphrase: ExportSupport.passphrase())
    }
    // The import needs the keys of the imported items, and of the existing ones.
    let all = try ExportSupport.export(owner, in: test, named: "all.export")
    try expect(.locked, leavesNothing: test) {
      _ = try test.handle().importItems(from: all, passphrase: ExportSupport.passphrase())
    }
    try owner.update(.test("open"), with: CredentialUpdate(accessibility: .whenUnlocked))
    try expect(.locked, leavesNothing: test) {
      _ = try test.handle().importItems(
        from: path, passphrase: ExportSupport.passphrase(), overwriting: true)
    }
    let overwritten = try owner.importItems(
      from: path, passphrase: ExportSupport.passphrase(), overwriting: true)
    #expect(overwritten.differing == [.test("open")])
    #expect(try test.handle().text("open") == "x")
    #expect(try owner.verify().problems == [])
  }

  /// Items written before a locked item was found must not stay.
  @Test func importWithLockedItemTakesNothing() throws {
    let (one, test) = (try TestVault(), try TestVault())
    for number in 0..<20 { try one.handle().put("k\(number)", "new", .always) }
    let path = try ExportSupport.export(one.handle(), in: one)
    let owner = test.handle(passphrase: TestVault.passphrase)
    try owner.create(
      passphrase: SecretBytes(copying: TestVault.passphrase), keyFile: nil, device: true)
    try owner.put("k7", "old")
    let before = try Data(contentsOf: URL(filePath: test.path))
    for overwriting in [false, true] {
      try expect(.locked, leavesNothing: test) {
        _ = try test.handle().importItems(
          from: path, passphrase: ExportSupport.passphrase(), overwriting: overwriting)
      }
    }
    #expect(try Data(contentsOf: URL(filePath: test.path)) == before)
    let report = try owner.importItems(from: path, passphrase: ExportSupport.passphrase())
    #expect(report.addedCount == 19 && report.differing == [.test("k7")])
    #expect(try owner.verify().problems == [])
  }

  @Test func nothingIsMadeForNothing() throws {
    let test = try TestVault()
    let path = test.folder.path + "/x.export"
    try expect(.noStore, leavesNothing: test) {
      _ = try test.handle().export(to: path, passphrase: ExportSupport.passphrase())
    }
    try test.handle().put("a")
    try expect(.refused, leavesNothing: test) {
      _ = try test.handle().export(to: path, passphrase: ExportSupport.passphrase(""))
    }
    _ = try test.file("x.export", "precious")
    try expect(.alreadyExists, leavesNothing: test) {
      _ = try test.handle().export(to: path, passphrase: ExportSupport.passphrase())
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    try expect(.inputOutput, leavesNothing: test) {
      _ = try test.handle().export(
        to: test.folder.path + "/none/x", passphrase: ExportSupport.passphrase())
    }
  }

  @Test func othersCannotReadAnExport() throws {
    let test = try TestVault()
    try test.handle().put("a")
    let path = try ExportSupport.export(test.handle(), in: test)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let names = try FileManager.default.contentsOfDirectory(atPath: test.folder.path)
    #expect(Set(names) == ["data", "state", "x.export"])
  }

  @Test func aDamagedVaultIsNotExported() throws {
    let test = try TestVault()
    try test.handle().put("a", String(repeating: "x", count: 20_000))
    let handle = try FileHandle(forUpdating: URL(filePath: test.path))
    let size = try handle.seekToEnd()
    try handle.seek(toOffset: size - 5000)
    try handle.write(contentsOf: Data(repeating: 0x55, count: 10))
    try handle.close()
    try expect(.damaged, leavesNothing: test) {
      _ = try test.handle().export(
        to: test.folder.path + "/x.export", passphrase: ExportSupport.passphrase())
    }
  }

  private func write(_ bytes: [UInt8], in test: TestVault) throws -> String {
    let path = test.folder.path + "/changed.export"
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }

  private func expectRefusal(
    of bytes: [UInt8], in test: TestVault, _ comment: Comment
  ) throws {
    ExportSupport.expectRefusal(of: try write(bytes, in: test), in: test, honest, comment)
  }

  /// Expects a failure that leaves no new file.
  private func expect(
    _ code: KeychainError.Code, leavesNothing test: TestVault, _ body: () throws -> Void
  ) throws {
    let before = try FileManager.default.contentsOfDirectory(atPath: test.folder.path)
    let error = #expect(throws: KeychainError.self) { try body() }
    #expect(error?.code == code, "\(error as Any)")
    let after = try FileManager.default.contentsOfDirectory(atPath: test.folder.path)
    #expect(Set(after).subtracting(before).subtracting(["state", "data"]) == [])
  }
}
