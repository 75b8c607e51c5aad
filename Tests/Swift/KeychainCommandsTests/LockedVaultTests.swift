// What commands say about a vault that is locked, and whom they ask.
import CommandTesting
import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Testing

@testable import KeychainCommands

@Suite("Commands on a locked vault")
struct LockedVaultTests {
  private let vault: TestVault
  private var program: TestedProgram
  private let passphrase: [String]

  /// Creates a locked vault with three items, whose accounts and secrets are their accessibilities.
  init() throws {
    vault = try TestVault(environment: ["KEYCHAIN_STORE": "vault"])
    var environment = vault.environment
    environment["HOME"] = vault.folder.path
    program = TestedProgram(store: nil, environment: environment)
    passphrase = ["--passphrase-file", try vault.file("passphrase", TestVault.passphrase + "\n")]
    for accessibility in [Accessibility.always, .afterFirstUnlock, .whenUnlocked] {
      let name = accessibility.description
      try vault.handle().set(
        Credential(
          .genericPassword(service: "default", account: name), accessibility: accessibility),
        secret: SecretBytes(copying: name))
    }
    try vault.handle().addPassphraseSlot(SecretBytes(copying: TestVault.passphrase))
    try vault.handle().lock(all: true)
  }

  private func expectLocked() throws {
    #expect(try program.line("status --json").object()["state"] as? String == "locked")
  }

  // MARK: - Lists and hints

  @Test(arguments: [
    "--account whenUnlocked", "--account whenUnlocked --json", "nosuch*", "--account nobody",
    "--expired",
  ])
  func listOfLockedItemsIsNotEmpty(options: String) throws {
    let listed = program.line("list \(options)")
    #expect(listed.code == 77 && ["", "[\n\n]\n"].contains(listed.output))
    #expect(
      listed.messages.contains("nothing can be listed: ") && listed.messages.contains("locked"))
    #expect(listed.hints == "run 'prefs keychain unlock' to see them")
    try expectLocked()
  }

  @Test func itemsThatNeedNoUnlockAreListed() throws {
    #expect(try program.accounts("--account", "always") == ["always"])
    // Entries have the service of an item, and none of its other names.
    #expect(try program.accounts("--service", "other").isEmpty)
    let opened = ["list", "--json", "--account", "whenUnlocked"] + passphrase
    #expect(
      try program.run(opened).objects().compactMap { $0["account"] as? String } == ["whenUnlocked"])
  }

  @Test(arguments: [
    ("get always --service other", "always exists with --service default"),
    ("get whenUnlocked --service other", ""), ("get alwasy", "did you mean always?"),
    ("get whenUnlockde", ""),
  ])
  func hintsNameNothingThatIsLocked(line: String, hint: String) throws {
    let missed = program.line(line)
    #expect(missed.failed(44) && missed.hints == hint)
    try expectLocked()
  }

  @Test(arguments: [40, 45, 50, 55, 60, 65, 70, 75])
  func commandOfAHintStaysOnOneLine(columns: Int) {
    let refused = program.line("get whenUnlocked --no-prompt", columns: columns)
    #expect(refused.code == 77)
    #expect(
      refused.messages.split(separator: "\n").contains { $0.contains("'prefs keychain unlock'") })
  }

  // MARK: - Renaming

  @Test(arguments: [("always", 0), ("afterFirstUnlock", 77), ("whenUnlocked", 77)])
  func lockedItemIsNotRenamed(account: String, code: Int32) {
    #expect(program.run("rename", account, "new").code == code)
    let again = program.run(["rename", account, "new"] + passphrase)
    #expect(again.code == (code == 0 ? 44 : 0), "\(again.messages)")
    #expect(program.run(["get", "new"] + passphrase).output == account)
    // A name that is taken by an item that is locked is taken all the same.
    if code == 0 { #expect(program.line("rename new whenUnlocked").failed(75)) }
  }

  // MARK: - Questions

  @Test(arguments: [("unlock --no-prompt", [:]), ("unlock", ["KEYCHAIN_NO_PROMPT": "1"])])
  func askingCanBeTurnedOff(line: String, variables: [String: String]) throws {
    let person = ScriptedPerson(TestVault.passphrase)
    var program = program
    program.person = person
    program.environment.merge(variables) { $1 }
    #expect(program.line(line).failed(77, "is locked") && person.questions.isEmpty)
    try expectLocked()
  }

  @Test func threeWrongPassphrasesAreEnough() throws {
    let person = ScriptedPerson("wrong", "wrong", "wrong", TestVault.passphrase)
    var program = program
    program.person = person
    let refused = program.line("unlock")
    #expect(refused.code == 78 && refused.messages.contains("does not open the vault"))
    #expect(person.questions.count == 3)
    #expect(person.questions.allSatisfy { $0.contains("passphrase of \(vault.path)") })
    try expectLocked()
  }

  @Test func answerUnlocks() {
    let person = ScriptedPerson("wrong", TestVault.passphrase)
    var program = program
    program.person = person
    #expect(program.line("get whenUnlocked").output == "whenUnlocked")
    #expect(person.questions.count == 2)
  }
}
