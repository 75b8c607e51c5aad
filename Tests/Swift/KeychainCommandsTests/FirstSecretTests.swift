// A first passphrase or key file, and another passphrase, of a vault.
import CommandTesting
import Foundation
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Testing

@testable import KeychainCommands

@Suite("First secrets of a vault, and other passphrases")
struct FirstSecretTests {
  private let vault: TestVault
  private let program: TestedProgram

  init() throws {
    vault = try TestVault(environment: ["KEYCHAIN_STORE": "vault"])
    var environment = vault.environment
    environment["HOME"] = vault.folder.path
    program = TestedProgram(store: nil, environment: environment)
  }

  private func path(_ name: String) -> String { vault.folder.path + "/" + name }

  /// Creates a vault that the device key and a recovery code open; the code is in the file `code`.
  private func createWithCode() {
    program.set("alice", "secret")
    let created = program.run("recovery", "create", "--code-file", path("code"))
    #expect(created.code == 0, "\(created.messages)")
  }

  private static let stays = "will open the vault: slot 2, recovery code"

  @Test(arguments: ["--new-key-file", "--with-key-file"])
  func keyFileLeavesTheCode(option: String) throws {
    createWithCode()
    if option == "--with-key-file" { _ = try vault.file("key", String(repeating: "k", count: 32)) }
    let added = program.run("slots", "add", option, path("key"), "--yes")
    #expect(
      added.code == 0 && added.messages.contains("added slot 3: key file"), "\(added.messages)")
    #expect(program.get("alice", "--recovery-code-file", path("code")) == "secret")
    #expect(program.get("alice", "--key-file", path("key")) == "secret")
  }

  @Test func answeringNoChangesNothing() throws {
    createWithCode()
    let before = try Data(contentsOf: URL(filePath: vault.path))
    let person = ScriptedPerson("n")
    var program = program
    program.person = person
    let refused = program.run("slots", "add", "--new-key-file", path("key"))
    #expect(refused.code == 130 && refused.messages.contains("nothing was changed"))
    #expect(refused.messages.contains(Self.stays))
    #expect(
      person.questions.count == 1 && person.questions[0].contains("give the vault new keys?"))
    #expect(!FileManager.default.fileExists(atPath: path("key")))
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
  }

  @Test func remainingSlotsAreShownWithoutATerminal() throws {
    createWithCode()
    let new = try vault.file("new", "correct horse battery staple\n")
    let refused = program.run("slots", "add", "--new-passphrase-file", new)
    #expect(refused.failedAfterNotes(64, Self.stays) && refused.hints.contains("--yes"))
  }

  @Test func anotherDevicesLossIsShown() throws {
    createWithCode()
    program.set("bound", "x", "--accessibility", "whenUnlockedThisDeviceOnly")
    try FileManager.default.moveItem(atPath: vault.deviceSecretPath, toPath: path("first.key"))
    #expect(program.run("slots", "add", "--device", "--recovery-code-file", path("code")).code == 0)
    let new = try vault.file("new", "correct horse battery staple\n")
    let refused = program.run("slots", "add", "--new-passphrase-file", new)
    #expect(refused.failedAfterNotes(64, "will be deleted: 1 item bound to other devices"))
    #expect(
      refused.messages.contains("slot 1, device (another one), which opens what needs no unlock"))
  }

  // MARK: - Another passphrase

  private func change(_ options: String...) throws -> CommandRun {
    let new = try vault.file("new", "brand new passphrase\n")
    return program.run(["change-passphrase", "--new-passphrase-file", new] + options)
  }

  @Test(arguments: [
    ("9", 44, "no slot 9"), ("1", 79, "not a passphrase but a device"), ("x", 64, "--slot"),
  ])
  func slotWithoutAPassphraseIsRefused(slot: String, code: Int32, text: String) throws {
    try vault.handle().put("alice")
    try vault.handle().addPassphraseSlot(SecretBytes(copying: TestVault.passphrase))
    let old = try vault.file("old", TestVault.passphrase + "\n")
    #expect(try change("--slot", slot, "--passphrase-file", old).failed(code, text))
  }

  @Test func vaultWithoutAPassphraseIsRefused() throws {
    #expect(try change().failed(69))
    program.set("alice")
    let refused = try change()
    #expect(
      refused.failed(79, "no passphrase to change")
        && refused.hints.contains("slots add --passphrase"))
  }

  @Test func wrongAndEmptyPassphrasesChangeNothing() throws {
    try vault.handle().put("alice")
    try vault.handle().addPassphraseSlot(SecretBytes(copying: TestVault.passphrase))
    let old = try vault.file("old", TestVault.passphrase + "\n")
    let before = try Data(contentsOf: URL(filePath: vault.path))
    #expect(try change("--passphrase-file", vault.file("wrong", "wrong\n")).failed(78))
    let empty = try vault.file("empty", "\n")
    let refused = program.run(
      "change-passphrase", "--new-passphrase-file", empty, "--passphrase-file", old)
    #expect(refused.failed(79, "protects nothing"))
    #expect(program.run("change-passphrase", "--passphrase-file", old).failed(64))
    #expect(program.line("change-passphrase --passphrase-fd 3 --new-passphrase-fd 3").failed(64))
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
  }
}

extension CommandRun {
  /// Returns whether the command failed with a code, printed nothing, and said a text, also before the error.
  fileprivate func failedAfterNotes(_ code: Int32, _ text: String) -> Bool {
    self.code == code && bytes.isEmpty && messages.contains("prefs: error: ")
      && messages.contains(text)
  }
}
