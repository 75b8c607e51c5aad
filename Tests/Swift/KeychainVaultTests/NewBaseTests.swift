import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultFormat
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// When the file is made anew, and what is not in it any more then.
@Suite("New bases")
struct NewBaseTests {
  private let vault: TestVault

  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "first")
  }

  private var base: UInt64 {
    get throws { try RawVault(vault, vault.handle()).contents.base.n }
  }

  @Test func hardLinkIsReportedUntilAChange() throws {
    let other = vault.path + ".other"
    try FileManager.default.linkItem(atPath: vault.path, toPath: other)
    func told(_ use: (Vault) throws -> Void) throws -> [Notice.Kind] {
      let told = Told()
      try use(vault.handle { $0.notice = told.add })
      return told.kinds
    }
    #expect(try told { _ = try $0.text("a") } == [.otherNames])
    #expect(try vault.handle().status().hasOtherNames)
    #expect(
      try told {
        try $0.put("a", "second")
        try $0.put("a", "third")
      } == [.otherNames])
    #expect(try told { _ = try $0.text("a") } == [])
    #expect(try vault.handle { $0.path = other }.text("a") == "first")
    #expect(try vault.handle().text("a") == "third")
  }

  @Test func changesThatAreTooLargeForACommitAreABase() throws {
    let before = try RawVault(vault, vault.handle()).contents
    let comment = String(repeating: "c", count: 60_000)
    try vault.handle().withTransaction { transaction in
      for number in 0..<20 {
        try transaction.set(
          Credential(.test("k\(number)"), comment: comment), secret: SecretBytes(copying: "s"))
      }
    }
    let after = try RawVault(vault, vault.handle()).contents
    #expect(after.isBaseAlone && after.base.n == before.newest.n + 1)
    #expect(after.list == before.list)
    #expect(try vault.handle().text("k19") == "s" && vault.handle().text("a") == "first")
    #expect(try vault.handle().verify().problems == [])
  }

  @Test func largeChangeWithoutAllKeysIsRefused() throws {
    try vault.handle().addPassphraseSlot(SecretBytes(copying: "one"))
    let before = try vault.bytes
    let comment = String(repeating: "c", count: 60_000)
    let error = failure {
      try vault.handle().withTransaction { transaction in
        for number in 0..<20 {
          try transaction.set(
            Credential(.test("k\(number)"), accessibility: .always, comment: comment),
            secret: SecretBytes(copying: "s"))
        }
      }
    }
    #expect(error?.code == .locked)
    #expect(try vault.bytes == before)
  }

  @Test func aLogThatHasGrownMakesABase() throws {
    let handle = vault.handle()
    let first = try base
    var count = 0
    while try base == first, count < 200 {
      try handle.put("a", "\(count)")
      count += 1
    }
    #expect(count > 10 && count < 200)
    #expect(try handle.text("a") == "\(count - 1)" && vault.handle().text("a") == "\(count - 1)")
    #expect(try vault.handle().verify().problems == [])
    #expect(!FileManager.default.fileExists(atPath: vault.path + ".new"))
  }

  /// A base needs all keys, and a reader makes none.
  @Test func onlyAWriterWithAllKeysMakesABase() throws {
    try vault.handle().addPassphraseSlot(SecretBytes(copying: "one"))
    let whole = vault.handle(passphrase: "one")
    let locked = vault.handle()
    let first = try RawVault(vault, whole).contents.base.n
    for number in 0..<120 { try locked.put("open", "\(number)", .always) }
    let grown = try RawVault(vault, whole).contents
    #expect(grown.base.n == first && grown.end - grown.head.lengths.log > 32 << 10)
    let before = try vault.bytes
    #expect(try whole.text("a") == "first" && whole.verify().problems == [])
    #expect(try whole.search(CredentialQuery()).credentials.count == 2)
    #expect(try vault.bytes == before)
    try whole.put("b")
    #expect(try RawVault(vault, whole).contents.isBaseAlone)
    #expect(try locked.text("open") == "119")
  }

  @Test func compactingRemovesWhatWasReplaced() throws {
    let raw = try RawVault(vault, vault.handle())
    let place = try raw.boxPlace(of: "a")
    let box = try raw.contents.read(place..<place + 296)
    try vault.handle().put("a", "second")
    #expect(try vault.bytes.range(of: box) != nil)
    let before = try RawVault(vault, vault.handle()).contents
    try vault.handle().compact()
    #expect(try vault.bytes.range(of: box) == nil)
    let after = try RawVault(vault, vault.handle()).contents
    #expect(after.isBaseAlone && after.base.n == before.newest.n + 1)
    #expect(after.head.identity == before.head.identity && after.list == before.list)
    #expect(try vault.handle().text("a") == "second")
    #expect(try vault.handle().status().seenRecord == .current)
  }

  /// It knows the spine that it wrote.
  @Test func basesOfOneHandleLeadToEachOther() throws {
    let handle = vault.handle()
    try handle.put("a", "seen")
    let record = try #require(try handle.file.records().files.first).path
    let seen = try Data(contentsOf: URL(filePath: record))
    for number in 0..<3 {
      try handle.put("a", "\(number)")
      try handle.compact()
    }
    // What an older record has seen is in the history that the handle itself has written.
    try seen.write(to: URL(filePath: record))
    #expect(try handle.text("a") == "2")
    #expect(try vault.handle().verify().problems == [])
    #expect(try vault.handle().text("a") == "2")
  }

  @Test func compactingNeedsAllKeys() throws {
    try vault.handle().addPassphraseSlot(SecretBytes(copying: "one"))
    #expect(failure { try vault.handle().compact() }?.code == .locked)
  }

  @Test func removedSecretIsNotInASmallFile() throws {
    let raw = try RawVault(vault, vault.handle())
    let place = try raw.boxPlace(of: "a")
    let box = try raw.contents.read(place..<place + 296)
    try vault.handle().remove(.test("a"))
    #expect(try vault.bytes.range(of: box) == nil)
  }

  @Test func itemIsDroppedByTheBeginningOfItsID() throws {
    try vault.handle().put("b", "two")
    let raw = try RawVault(vault, vault.handle())
    let id = try ItemSealing(keys: raw.keys, device: nil).id(of: .test("b")).data.hexadecimal
    try vault.damage(at: raw.boxPlace(of: "b") + 40)
    #expect(failure { _ = try vault.handle().text("b") }?.code == .damaged)
    #expect(failure { try vault.handle().compact(dropping: [""]) } != nil)
    #expect(
      failure { try vault.handle().compact(dropping: [String(repeating: "0", count: 64)]) }?.code
        == .notFound)
    try vault.handle().compact(dropping: [String(id.prefix(12)).uppercased()])
    #expect(try vault.handle().text("b") == nil && vault.handle().text("a") == "first")
    #expect(try vault.handle().verify().problems == [])
  }
}
