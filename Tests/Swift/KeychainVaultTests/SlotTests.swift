import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

@Suite("Ways to open a vault")
struct SlotTests {
  private func secret(_ text: String) throws -> SecretBytes { try SecretBytes(copying: text) }

  private func code(_ body: () throws -> Void) -> KeychainError.Code? {
    do { try body() } catch { return (error as? KeychainError)?.code }
    return nil
  }

  @Test func severalPassphrasesOpenTheSameItems() throws {
    let vault = try TestVault()
    try vault.handle(passphrase: "one").put("a", "secret")
    try vault.handle(passphrase: "one").addPassphraseSlot(secret("two"))
    #expect(try vault.handle(passphrase: "two").text("a") == "secret")
    try vault.handle(passphrase: "two").removeSlot(2)
    #expect(code { _ = try vault.handle(passphrase: "one").text("a") } == .incorrectSecret)
    #expect(try vault.handle(passphrase: "two").text("a") == "secret")
    #expect(try vault.handle().verify().isIntact)
  }

  /// If two users each removed the slot of the other, none would remain.
  @Test func removedSlotCannotChangeSlots() throws {
    let vault = try TestVault()
    try vault.handle(passphrase: "one").put("a", "secret")
    try vault.handle(passphrase: "one").addPassphraseSlot(secret("two"))
    let admin = try vault.handle(passphrase: "one").administration()
    try vault.handle(passphrase: "two").removeSlot(2)
    #expect(code { try admin.change { _ throws(KeychainError) in } } == .busy)
    #expect(try vault.handle(passphrase: "two").text("a") == "secret")
  }

  @Test func aKeyFileOpensTheVault() throws {
    let vault = try TestVault()
    let key = try vault.file("key", String(repeating: "k", count: 32))
    let opened = vault.handle(environment: ["KEYCHAIN_KEY_FILE": key])
    try opened.put("a", "secret")
    #expect(try opened.slots().map(\.kind) == [.device, .keyFile])
    #expect(try vault.handle(environment: ["KEYCHAIN_KEY_FILE": key]).text("a") == "secret")
    let other = try vault.file("other", String(repeating: "x", count: 32))
    try vault.handle().lock(all: true)
    #expect(
      code { _ = try vault.handle(environment: ["KEYCHAIN_KEY_FILE": other]).text("a") }
        == .incorrectSecret)
    let short = try vault.file("short", "too short")
    #expect(
      code { _ = try vault.handle(environment: ["KEYCHAIN_KEY_FILE": short]).text("a") }
        == .refused)
  }

  @Test func theFirstSourceThatIsPresentDecides() throws {
    let vault = try TestVault()
    let right = try vault.file("right", "open\n")
    let wrong = try vault.file("wrong", "shut\n")
    try vault.handle(environment: ["KEYCHAIN_PASSPHRASE_FILE": right]).put("a", "secret")
    try vault.handle().lock(all: true)
    #expect(
      code {
        _ = try vault.handle(environment: [
          "KEYCHAIN_PASSPHRASE_FILE": wrong, "KEYCHAIN_PASSPHRASE": "open",
        ]).text("a")
      } == .incorrectSecret)
    #expect(try vault.handle(environment: ["KEYCHAIN_PASSPHRASE": "open"]).text("a") == "secret")
  }

  @Test func systemCredentialsOpenTheVault() throws {
    let vault = try TestVault()
    _ = try vault.file("keychain.passphrase", "open")
    let environment = ["CREDENTIALS_DIRECTORY": vault.folder.path]
    try vault.handle(environment: environment).put("a", "secret")
    try vault.handle().lock(all: true)
    #expect(code { _ = try vault.handle().text("a") } == .locked)
    #expect(try vault.handle(environment: environment).text("a") == "secret")
  }

  @Test func aRemovedLastPassphraseLeavesTheDevice() throws {
    let vault = try TestVault()
    try vault.handle(passphrase: "open").put("a", "secret")
    try vault.handle(passphrase: "open").put("b", "bound", .whenPasscodeSetThisDeviceOnly)
    let error = #expect(throws: KeychainError.self) {
      try vault.handle(passphrase: "open").removeSlot(2)
    }
    #expect(error?.code == .refused)
    #expect(error?.message.contains("'b'") == true)
    let doomed = try vault.handle(passphrase: "open").itemsDeleted(withSlot: 2)
    #expect(doomed.map(\.identity) == [.test("b")])
    try vault.handle(passphrase: "open").removeSlot(2, deletingItems: true)
    #expect(try vault.handle().text("a") == "secret")
    #expect(try vault.handle().text("b") == nil)
    #expect(try vault.handle().slots().map(\.grant) == [.administers])
    #expect(try vault.handle().verify().isIntact)
  }

  @Test func theLastWayToOpenStays() throws {
    let vault = try TestVault()
    try vault.handle().put("a")
    #expect(code { _ = try vault.handle().removeSlot(1) } == .refused)
    #expect(try vault.handle().text("a") == "s3cret")
  }

  @Test func itemsThatNeedPassphraseAreRefusedWithoutOne() throws {
    let vault = try TestVault()
    #expect(
      code { _ = try vault.handle().put("a", "x", .whenPasscodeSetThisDeviceOnly) } == .refused)
    #expect(try vault.handle().text("a") == nil)
  }

  @Test func changesOfSlotsTakeTheRootKey() throws {
    let vault = try TestVault()
    try vault.handle(passphrase: "open").put("a")
    try vault.handle(passphrase: "open").unlock()
    // The vault is unlocked for reading, but not for this.
    #expect(code { _ = try vault.handle().addPassphraseSlot(secret("two")) } == .locked)
    #expect(
      code { _ = try vault.handle(passphrase: "no").addPassphraseSlot(secret("two")) }
        == .incorrectSecret)
  }

  @Test func emptyPassphrasesAreRefused() throws {
    let vault = try TestVault()
    #expect(
      code { try vault.handle().create(passphrase: secret(""), keyFile: nil, device: true) }
        == .refused)
    #expect(code { _ = try vault.handle().addPassphraseSlot(secret("")) } == .noStore)
    try vault.handle().put("a")
    #expect(code { _ = try vault.handle().addPassphraseSlot(secret("")) } == .refused)
  }

  @Test func thereAreAtMostEightPassphrases() throws {
    let vault = try TestVault()
    let handle = vault.handle(passphrase: "0")
    try handle.put("a")
    for number in 1..<8 { try handle.addPassphraseSlot(secret("\(number)")) }
    #expect(code { _ = try handle.addPassphraseSlot(secret("8")) } == .refused)
    #expect(try vault.handle(passphrase: "7").text("a") == "s3cret")
    let key = try vault.file("key", String(repeating: "k", count: 32))
    #expect(try handle.addKeyFileSlot(path: key).kind == .keyFile)
  }

  @Test func createMakesWhatIsAskedFor() throws {
    let vault = try TestVault()
    try vault.handle().create(passphrase: secret("open"), keyFile: nil, device: false)
    #expect(try vault.handle().slots().map(\.kind) == [.passphrase])
    #expect(code { _ = try vault.handle().text("a") } == .locked)
    #expect(try vault.handle(passphrase: "open").text("a") == nil)
    #expect(
      code { try vault.handle().create(passphrase: nil, keyFile: nil, device: true) }
        == .alreadyExists)
    let other = try TestVault()
    #expect(
      code { try other.handle().create(passphrase: nil, keyFile: nil, device: false) }
        == .invalidArgument)
  }
}
