// Credentials that get other names.
import CommandTesting
import Foundation
import Testing

@testable import KeychainCommands

@Suite("Renaming credentials")
struct RenameCommandTests {
  private let program = TestedProgram()

  /// Each credential's service or server, account and group.
  private func places() throws -> [[String]] {
    try program.listed("--all-groups").map { item in
      [item["service"] ?? item["server"], item["account"], item["accessGroup"]].map {
        $0 as? String ?? ""
      }
    }
  }

  @Test func newAccountKeepsEverythingElse() throws {
    program.line("set alice --label Work --attribute env=prod --expires 90d", input: "sec\nret")
    var old = try program.shown("alice")
    #expect(program.line("rename alice bob").isSilent)
    var new = try program.shown("bob")
    #expect(new["version"] as? String != old["version"] as? String)
    let (modified, before) = (new["modified"] as? String, old["modified"] as? String)
    #expect(modified ?? "" >= before ?? "none")
    for name in ["version", "modified"] { (old[name], new[name]) = (nil, nil) }
    old["account"] = "bob"
    #expect(new as NSDictionary == old as NSDictionary)
    #expect(program.get("bob") == "sec\nret" && program.line("get alice").failed(44))
  }

  @Test func serviceAndGroupChange() throws {
    program.set("alice", "x", "--service", "one")
    #expect(program.line("rename alice alice --service one --to-service two").isSilent)
    #expect(try places() == [["two", "alice", ""]])
    #expect(program.line("mv alice alice --service two --to-access-group team").isSilent)
    #expect(try places() == [["two", "alice", "team"]])
  }

  @Test func namesOfAServerChangeEachAlone() throws {
    program.set("alice", "x", "--service", "two", "--access-group", "team")
    let moved = try program.run([
      "rename", "alice", "bob", "--service", "two", "--access-group", "team", "--to-access-group",
      "",
      "--to-server", "h", "--to-protocol", "https", "--to-port", "443", "--to-path", "/p", "--json",
    ]).object()
    #expect(moved["kind"] as? String == "internetPassword" && moved["server"] as? String == "h")
    #expect(moved["port"] as? Int == 443 && moved["account"] as? String == "bob")
    // A part of its names is enough to find it.
    let port = try program.line("rename bob bob --server h --to-port 8443 --json").object()
    #expect(port["server"] as? String == "h" && port["protocol"] as? String == "https")
    #expect(port["port"] as? Int == 8443 && port["path"] as? String == "/p")
    #expect(program.line("rename bob carol --server h --to-service three").isSilent)
    #expect(try places() == [["three", "carol", ""]])
    #expect(program.get("carol", "--service", "three") == "x")
  }

  @Test(arguments: [
    ("rename alice bob", 75, "'bob' of service 'default' exists already", ""),
    ("rename carol dave", 44, "'carol'", ""),
    ("rename alice dave --to-port 1", 64, "", "--to-server"),
    ("rename alice dave --to-service s --to-server h", 64, "", ""), ("rename alice", 64, "", ""),
    ("rename alice dave --expected-version 1000", 75, "'alice'", ""),
  ])
  func wrongRenamingChangesNothing(line: String, code: Int32, message: String, hint: String) throws
  {
    program.set("alice", "a")
    program.set("bob", "b")
    let refused = program.line(line)
    #expect(
      refused.failed(code, message.isEmpty ? "error" : message)
        && (hint.isEmpty || refused.hints.contains(hint)))
    #expect(program.get("alice") == "a" && program.get("bob") == "b")
    #expect(try places().count == 2)
  }

  /// An unset variable must not remove a name.
  @Test func emptyAccountNeedsAServer() {
    program.set("alice")
    #expect(program.run("rename", "alice", "").failed(64, "the account is empty"))
    #expect(program.run("rename", "alice", "", "--to-service", "s").failed(64))
    #expect(program.get("alice") == "x")
    #expect(program.run("rename", "alice", "", "--to-server", "example.com").isSilent)
    #expect(program.run("get", "", "--server", "example.com").output == "x")
  }
}
