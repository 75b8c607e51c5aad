// The names of credentials: bytes, services, groups, servers and attributes.
import CommandTesting
import Foundation
import Testing

@testable import KeychainCommands

@Suite("Names of credentials")
struct CredentialNameTests {
  private static let (composed, decomposed) = ("\u{E9}", "e\u{301}")
  private let program = TestedProgram()

  @Test func namesCompareAsBytes() throws {
    let (composed, decomposed) = (Self.composed, Self.decomposed)
    program.set(composed, "composed", "--service", "s")
    program.set(decomposed, "decomposed", "--service", "s")
    #expect(program.get(composed, "--service", "s") == "composed")
    #expect(program.get(decomposed, "--service", "s") == "decomposed")
    program.set("a", "1", "--service", composed, "--access-group", decomposed)
    for name in [composed, decomposed] {
      #expect(program.run("get", "a", "--service", name, "--access-group", name).failed(44))
    }
    #expect(program.get("a", "--service", composed, "--access-group", decomposed) == "1")
    #expect(try program.listed("--service", composed).isEmpty)
  }

  @Test func renamedOneHasTheOtherBytes() {
    program.set(Self.composed, "a")
    #expect(program.run("rename", Self.composed, Self.decomposed).isSilent)
    #expect(program.get(Self.decomposed) == "a")
    #expect(program.run("get", Self.composed).failed(44))
  }

  @Test func attributesThatLookEqualAreTwo() {
    let (composed, decomposed) = (Self.composed, Self.decomposed)
    program.set("alice", "x", "--attribute=\(composed)=one", "--attribute=\(decomposed)=two")
    let shown = Data(program.run("show", "alice", "--json").bytes)
    for pair in ["\"\(composed)\" : \"one\"", "\"\(decomposed)\" : \"two\""] {
      #expect(shown.range(of: Data(pair.utf8)) != nil)
    }
  }

  @Test func nameInAnotherFormIsMeant() {
    program.set("caf\(Self.composed)")
    let absent = program.run("get", "caf\(Self.decomposed)")
    #expect(absent.failed(44))
    #expect(absent.hints.contains("did you mean") && absent.hints.contains("looks the same"))
  }

  @Test(arguments: [
    "a b", "'\"$`\\", "\n", "\t", "🇩🇪👩‍👩‍👧", "\u{202E}gnirts", String(repeating: "a", count: 4096),
    "../../etc/passwd", "%s%n", "'; DROP TABLE item; --",
  ])
  func anyTextIsAName(name: String) throws {
    program.set(name, "x", "--service", name, "--access-group", name, "--label", name)
    #expect(program.get(name, "--service", name, "--access-group", name) == "x")
    let shown = try program.shown(name, "--service", name, "--access-group", name)
    for key in ["account", "service", "accessGroup", "label"] {
      #expect((shown[key] as? String).map { Array($0.utf8) } == Array(name.utf8), "\(key)")
    }
  }

  @Test(arguments: ["-", "--", "-x", "--json", "--help"])
  func nameMayBeginWithADash(name: String) throws {
    program.set(name, "x", "--service=\(name)")
    #expect(program.get(name, "--service=\(name)") == "x")
    #expect(try program.accounts("--service=\(name)", "--account=\(name)") == [name])
    #expect(program.run("delete", "--service=\(name)", "--", name).isSilent)
  }

  @Test func optionTakesANameWithADash() {
    program.set("alice", "x", "--service", "--json", "--label", "-l", "--access-group", "-g")
    #expect(program.get("alice", "--service", "--json", "--access-group", "-g") == "x")
  }

  @Test(arguments: ["--service=", "--access-group=", "--server=", "--label=", "-s="])
  func emptyValueSwallowsNoOtherArgument(option: String) {
    program.set("alice")
    #expect(program.run("set", option, "alice", "bob").failed(64, "nothing after its equals sign"))
    #expect(program.set("--service=", "y", "--service", "", "--label", "a=").isSilent)
    #expect(program.get("--service=", "--service", "") == "y")
  }

  @Test func emptyAccountNeedsAServer() throws {
    #expect(program.set("", "x").failed(64, "the account is empty"))
    #expect(try program.listed().isEmpty)
    #expect(program.set("", "x", "--server", "example.org").isSilent)
    #expect(program.get("", "--server", "example.org") == "x")
  }

  private static let longest = String(repeating: "l", count: 65_536 - "defaultalice".utf8.count)

  @Test(arguments: [
    ["set", "alice", "--label", longest + "l"], ["update", "alice", "--label", longest + "l"],
    ["update", "alice", "--comment", "c"], ["update", "alice", "--attribute", "a=b"],
    ["rename", "alice", "alicia"], ["set", "bob", "--comment", longest + "lll"],
    ["set", longest + "llllll"],
  ])
  func namesAndTextsHave64KiBTogether(words: [String]) throws {
    #expect(program.set("alice", "x", "--label", Self.longest).isSilent)
    let before = program.line("show alice --json").output
    let refused = program.run(words, input: Array("new".utf8))
    #expect(refused.failed(79, "more than 65536 bytes together"))
    #expect(refused.hints.contains("shorten them") && refused.messages.count < 1000)
    #expect(program.line("show alice --json").output == before)
    #expect(try program.get("alice") == "x" && program.accounts() == ["alice"])
  }

  // MARK: - Groups and services

  @Test func groupsAreApart() throws {
    program.set("alice", "unnamed")
    program.set("alice", "work", "--access-group", "work")
    #expect(program.get("alice") == "unnamed")
    #expect(program.get("alice", "--access-group", "work") == "work")
    #expect(try program.listed().count == 1)
    #expect(try program.listed("--all-groups").count == 2)
    #expect(program.line("delete alice").isSilent)
    #expect(program.line("get alice").failed(44))
    #expect(program.get("alice", "--access-group", "work") == "work")
  }

  @Test func serviceIsAssumed() {
    program.set("alice")
    #expect(program.get("alice", "--service", "default") == "x")
    #expect(program.run("get", "alice", "--service", "").failed(44))
  }

  @Test(arguments: ["-s ci", "-a deploy", "-s ci -a deploy"])
  func shortOptionsAreTheLongOnes(options: String) throws {
    program.set("deploy", "1", "-s", "ci", "-g", "team")
    #expect(program.get("deploy", "--service", "ci", "--access-group", "team") == "1")
    #expect(try program.line("list -g team --json \(options)").objects().count == 1)
    #expect(try program.accounts("-a", "other").isEmpty)
  }

  // MARK: - Servers

  @Test func internetPasswordsAreFoundByPartOfTheirNames() throws {
    let server = "--server example.com"
    program.line("set alice \(server) --protocol https --port 443 --path /a", input: "https")
    #expect(program.line("get alice \(server)").output == "https")
    program.line("set alice \(server) --protocol ssh --port 22", input: "ssh")
    let refused = program.line("get alice \(server)")
    #expect(refused.failed(76, "protocol 'https'") && refused.messages.contains("protocol 'ssh'"))
    #expect(program.line("get alice \(server) --port 22").output == "ssh")
    #expect(program.line("get alice \(server) --protocol https").output == "https")
    // Exactly the names given come first.
    program.line("set alice \(server)", input: "bare")
    #expect(program.line("get alice \(server)").output == "bare")
    #expect(program.line("get alice").failed(44))
    #expect(program.line("update alice \(server) --port 22 --label shell").isSilent)
    let shown = try program.line("show alice \(server) --port 22 --json").object()
    #expect(shown["label"] as? String == "shell")
    #expect(program.line("delete alice \(server) --path /a").isSilent)
    let left = try program.listed("--server", "example.com").compactMap {
      $0["protocol"] as? String
    }
    #expect(left.sorted() == ["", "ssh"])
  }

  @Test(arguments: [
    "--server h --service s", "--port 22", "--server h --port 65536", "--server h --port -1",
  ])
  func namesThatDoNotGoTogetherAreRefused(options: String) throws {
    #expect(program.line("set alice \(options)", input: "x").failed(64))
    #expect(try program.accounts("--all-groups").isEmpty)
  }

  @Test(arguments: ["host:8443", "https://host", "[::1]:8443", "HTTPS://host/a"])
  func hostHasNoPort(server: String) {
    #expect(
      program.line("set a --server \(server) --protocol https", input: "x").failed(64, "--port"))
    // Registries are named with their ports.
    #expect(program.line("set a --server \(server)", input: "x").code == 0)
    // What there is already can be read, does not look like a port, and can be renamed.
    let renaming = "rename a a --server \(server) --to-server \(server) --to-protocol https"
    #expect(program.line(renaming).isSilent)
    #expect(program.line("get a --server \(server) --protocol https").output == "x")
    let list = program.line("list").output
    #expect(list.contains("%3A") && !list.contains(server))
  }

  @Test(arguments: ["host", "::1", "[::1]", "fe80::1:2"])
  func hostMayBeAnAddress(server: String) {
    #expect(
      program.line("set a --server \(server) --protocol https --port 8443", input: "x").isSilent)
    #expect(program.line("list").output.contains("https://\(server):8443"))
  }

  @Test(arguments: [
    ("--server Git.Example.com --protocol https", "lower case"), ("--server Registry", ""),
    ("--server host --protocol https", ""),
  ])
  func capitalsInAHostAreReported(options: String, hint: String) {
    let stored = program.line("set a \(options)", input: "x")
    #expect(hint.isEmpty ? stored.isSilent : stored.code == 0 && stored.hints.contains(hint))
  }

  // MARK: - Attributes

  @Test func attributesFindACredential() {
    program.set("alice", "a", "--attribute", "env=test", "--attribute", "team=red")
    program.set("bob", "b", "--attribute", "env=test", "--service", "web")
    #expect(program.line("get --attribute team=red").output == "a")
    let refused = program.line("get --attribute env=test")
    #expect(refused.failed(76, "'alice'") && refused.messages.contains("'bob'"))
    #expect(program.line("get --attribute env=test --service web").output == "b")
    #expect(program.line("get alice --attribute env=test").output == "a")
    #expect(program.line("get --attribute env=live").failed(44, "'env'"))
    #expect(program.line("get --attribute env").failed(64))
    #expect(program.line("get").failed(64))
  }
}
