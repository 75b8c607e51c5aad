// What is said about credentials and vaults that don't exist, and what may be meant.
import CommandTesting
import Foundation
import KeychainVaultTesting
import Testing

@testable import KeychainCommands

@Suite("Absent credentials and vaults")
struct AbsentCredentialTests {
  private let program = TestedProgram()

  @Test(arguments: ["get bob", "show bob", "delete bob", "rename bob x", "update bob --label x"])
  func sameAccountElsewhereIsHintedAt(command: String) {
    program.set("bob", "secret-of-bob", "--service", "it's web")
    let missed = program.line(command)
    #expect(missed.failed(44) && missed.hints == "bob exists with --service 'it'\\''s web'")
    #expect(missed.messages.count { $0 == "\n" } == 2 && !missed.messages.contains("secret-of-bob"))
  }

  @Test func fewPlacesAreListed() {
    program.set("bob", "x", "--service", "it's web")
    program.line("set bob --server example.org --protocol https --port 443", input: "x")
    program.set("bob", "x", "--access-group", "team")
    let hint = program.line("get bob").hints
    for options in [
      "--server example.org --protocol https --port 443", "--service 'it'\\''s web'",
      "--service default --access-group team",
    ] {
      #expect(hint.contains("with \(options)"))
    }
    program.set("bob", "x", "--service", "fourth")
    #expect(
      program.line("get bob").hints
        == "bob exists in several other places: 'prefs keychain list --account bob --all-groups'")
    #expect(program.line("delete bob --if-exists").isSilent)
    #expect(program.line("get bobby").hints.isEmpty)
  }

  @Test(arguments: [
    (account: "githbu", options: [], meant: "github"), ("GitHub", [], "github"),
    (" github", [], "github"),
    ("githu", [], "github"), ("gitbub", [], "github"), ("githubxy", [], "github"),
    ("prod", ["-s", "web"], "Prod"), ("gitlab-ci", [], ""), ("g", [], ""), ("prod", [], ""),
    ("github", ["-g", "team", "-s", "nope"], ""),
  ])
  func mistypedAccountIsNamed(account: String, options: [String], meant: String) {
    program.set("github", "secret-of-github")
    program.set("Prod", "x", "--service", "web")
    for command in ["get", "delete"] {
      let missed = program.run([command, account] + options)
      #expect(missed.failed(44) && !missed.messages.contains("secret-of"))
      if meant.isEmpty {
        #expect(!missed.messages.contains("did you mean"))
      } else {
        #expect(missed.hints == "did you mean \(meant)?")
        #expect(missed.messages.count { $0 == "\n" } == 2)
      }
    }
  }

  @Test func referenceIsReadByAnotherCommand() {
    program.set("alice")
    let absent = program.line("get keychain://default/alice")
    #expect(
      absent.failed(44) && absent.hints.contains("prefs keychain read keychain://default/alice"))
  }

  // MARK: - A vault that is given by its path

  /// A folder without a vault, and a program that uses the vault of a path in it.
  private struct Folder {
    let vault: TestVault
    var program = TestedProgram(store: nil)
    let path: String
    let name: String
    let options: String

    init(_ place: String, byOption: Bool) throws {
      vault = try TestVault(environment: ["KEYCHAIN_STORE": "vault"])
      path = "\(vault.folder.path)/\(place)"
      name = byOption ? "--vault" : "KEYCHAIN_VAULT"
      options = byOption ? " --vault \(path)" : ""
      program.environment = vault.environment.merging(byOption ? [:] : ["KEYCHAIN_VAULT": path]) {
        $1
      }
    }

    func line(_ line: String) -> CommandRun { program.line(line + options, input: "x") }
  }

  private static let reading = [
    "get alice", "get --attribute a=b", "show alice", "update alice --label x", "rename alice bob",
    "delete alice",
  ]

  @Test(arguments: reading, [true, false])
  func mistypedVaultIsNamed(command: String, byOption: Bool) throws {
    let folder = try Folder("typo.db", byOption: byOption)
    let missed = folder.line(command)
    let subject =
      command.contains("--attribute") ? "with these values of 'a'" : "'alice' of service 'default'"
    #expect(
      missed.failed(44, "no credential \(subject): the vault '\(folder.path)' does not exist"))
    #expect(missed.hints == "check the path that \(folder.name) gives")
  }

  @Test(
    arguments: [("list", ""), ("list --json", "[\n\n]\n"), ("delete alice --if-exists", "")],
    [true, false])
  func missingVaultOfAnEmptyListIsNamed(row: (command: String, output: String), byOption: Bool)
    throws
  {
    let folder = try Folder("typo.db", byOption: byOption)
    let listed = folder.line(row.command)
    #expect(listed.code == 0 && listed.output == row.output)
    #expect(listed.messages.contains("the vault '\(folder.path)' does not exist"))
    #expect(listed.hints == "check the path that \(folder.name) gives")
  }

  @Test(
    arguments: reading + [
      "list", "list --json", "delete alice --if-exists", "set alice", "verify", "backup copy",
      "export copy",
    ], [true, false])
  func missingFolderOfAVaultIsNamed(command: String, byOption: Bool) throws {
    let folder = try Folder("nowhere/vault", byOption: byOption)
    let missed = folder.line(command)
    #expect(missed.failed(69, folder.path), "\(missed.messages)")
    if !["verify", "backup", "export"].contains(where: command.hasPrefix) {
      #expect(missed.messages.contains("does not exist, nor does its folder"))
      #expect(missed.hints.contains("check the path "))
    }
    #expect(!FileManager.default.fileExists(atPath: folder.vault.folder.path + "/nowhere"))
  }

  @Test func defaultVaultMayBeMissing() throws {
    let vault = try TestVault(environment: ["KEYCHAIN_STORE": "vault"])
    let program = TestedProgram(store: nil, environment: vault.environment)
    for line in ["list", "list --store vault"] { #expect(program.line(line).isSilent) }
    let missed = program.line("get alice")
    #expect(missed.code == 44)
    #expect(
      missed.messages == "prefs: error: there is no credential 'alice' of service 'default'\n")
  }

  @Test func vaultThatExistsIsNotMentioned() throws {
    let folder = try Folder("own.db", byOption: false)
    #expect(folder.line("set bob").code == 0)
    #expect(folder.line("delete bob").isSilent && folder.line("list").isSilent)
    #expect(!folder.line("get alice").messages.contains("own.db"))
    _ = folder.line("lock --all")
  }

  @Test func storeIsNamedInJSONOnly() throws {
    let vault = try TestVault(environment: ["KEYCHAIN_STORE": "vault"])
    let program = TestedProgram(store: nil, environment: vault.environment)
    program.set("alice")
    #expect(!program.line("list", columns: 200).output.contains("STORE"))
    #expect(try program.listed().first?["store"] as? String == "vault")
    #expect(program.line("list").output.hasSuffix("\tvault\n"))
  }
}
