// Lists and descriptions of credentials: as text, as tables of a width, and as JSON.
import CommandTesting
import Foundation
import Testing

@testable import KeychainCommands

@Suite("Lists and descriptions of credentials")
struct ListCommandTests {
  private let program = TestedProgram()

  // MARK: - Which are listed

  @Test func nothingIsListedOfAnEmptyStore() {
    #expect(program.line("list").isSilent)
    let listed = program.line("list --json")
    #expect(listed.code == 0 && listed.output == "[\n\n]\n" && listed.messages.isEmpty)
  }

  @Test func namesAndAttributesSelect() throws {
    program.set("alice", "hunter2", "--service", "web", "--label", "tab\there\\")
    program.set("bob", "hunter2", "--service", "mail", "--attribute", "env=test")
    let fields = program.line("list").output.split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false)
    }
    #expect(
      fields.map { $0.prefix(2).joined(separator: " ") }.sorted() == ["mail bob", "web alice"])
    #expect(fields.allSatisfy { $0.count == 8 })
    #expect(fields.contains { $0[6] == "tab\\there\\\\" })
    let listed = program.line("list --json")
    #expect(!listed.output.contains("hunter2"))
    #expect(try listed.objects().allSatisfy { $0["secret"] == nil })
    #expect(try program.accounts().sorted() == ["alice", "bob"])
    #expect(try program.accounts("--service", "web") == ["alice"])
    #expect(try program.accounts("--attribute", "env=test") == ["bob"])
    #expect(try program.accounts("--attribute", "env=other").isEmpty)
  }

  @Test(arguments: [
    (["git-???"], ["git-hub", "git-lab"]), (["git*"], ["deploy", "git-hub", "git-lab", "y"]),
    (["[Gg]it[ -]*"], ["git-hub", "git-lab", "x"]), (["git"], []), (["deploy"], ["deploy"]),
    (["git*", "--service", "git.example"], []), (["--", "-*"], []),
    (["*"], ["deploy", "git-hub", "git-lab", "x", "y"]),
  ])
  func patternSelectsByName(options: [String], accounts: [String]) throws {
    for (account, service) in [("git-hub", "web"), ("git-lab", "web"), ("deploy", "git.example")] {
      program.set(account, "x", "--service", service)
    }
    program.set("x", "x", "--service", "web", "--label", "Git key")
    program.set("y", "x", "--server", "git.example")
    let listed = try program.run(["list", "--json"] + options).objects().compactMap {
      $0["account"] as? String
    }
    #expect(listed.sorted() == accounts)
  }

  private func addExpiring() {
    for (account, service, expiry) in [
      ("soon", "a", "20d"), ("later", "b", "60d"), ("never", "c", "never"),
      ("gone", "d", "2020-01-01"),
      ("long gone", "e", "2010-01-01"),
    ] {
      program.set(account, "x", "--service", service, "--expires", expiry)
    }
  }

  @Test(arguments: [
    ("--expired", ["long gone", "gone"]), ("--expiring-within 30d", ["long gone", "gone", "soon"]),
    ("--expiring-within 1y", ["long gone", "gone", "soon", "later"]), ("--expired --service a", []),
  ])
  func expiringCredentialsAreListedByDate(options: String, accounts: [String]) throws {
    addExpiring()
    let listed = try program.line("list --json \(options)").objects().compactMap {
      $0["account"] as? String
    }
    #expect(listed == accounts)
  }

  @Test(arguments: [
    "--expired --expiring-within 1d", "--expiring-within 30", "--expiring-within soon",
  ])
  func wrongExpiryOfAListIsRefused(options: String) {
    #expect(program.line("list \(options)").failed(64))
  }

  /// A program gets no lines; a person reads why there are none.
  @Test(arguments: [
    ("--expiring-within 30d", "no credential expires within 30d"),
    ("--expired", "no credential has expired"),
    ("-s cii", "there is no credential of the service 'cii'"),
    ("-s ci --expired", "no credential of the service 'ci' has expired"),
    ("-a x --server h", "there is no credential of the account 'x' and the server 'h'"),
    ("git?", "there is no credential that matches"),
    ("git? --expired", "no credential that matches and has expired"),
  ])
  func emptyListIsSaidToAPerson(options: String, said: String) {
    program.set("github", "1", "--service", "ci")
    #expect(program.line("list \(options)").isSilent)
    let shown = program.line("list \(options)", columns: 80)
    #expect(shown.code == 0 && shown.bytes.isEmpty && shown.messages == "prefs: \(said)\n")
    let json = program.line("list --json \(options)", columns: 80)
    #expect(json.output == "[\n\n]\n" && json.messages.isEmpty)
    #expect(program.line("list", columns: 80).messages.isEmpty)
  }

  // MARK: - How they are shown

  @Test func tableIsCutOnATerminalOnly() throws {
    let (service, label) = (String(repeating: "s", count: 40), String(repeating: "l", count: 50))
    program.set("alice", "1", "--service", service, "--label", label, "--expires", "90d")
    let lines = program.line("list", columns: 60).output.split(separator: "\n")
    try #require(lines.count == 2)
    #expect(lines.allSatisfy { $0.count <= 60 } && lines[1].contains("…"))
    #expect(
      lines[0].hasPrefix("SERVICE") && !lines[0].contains("GROUP") && !lines[0].contains("STORE"))
    let fields = program.line("list").output.dropLast().split(
      separator: "\t", omittingEmptySubsequences: false)
    #expect(
      fields.first.map(String.init) == service && fields.dropLast().last.map(String.init) == label)
  }

  @Test func descriptionIsWrappedBelowItsValues() {
    let comment = String(repeating: "many words ", count: 20)
    program.set("alice", "1", "--comment", comment)
    let lines = program.line("show alice", columns: 60).output.split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 60 })
    #expect(
      lines.contains {
        $0.hasPrefix(String(repeating: " ", count: 10)) && $0.contains("many words")
      })
    #expect(program.line("show alice").output.contains(" \(comment)\n"))
  }

  @Test func descriptionHasAFactALine() throws {
    program.set("alice", "hunter2", "--label", "two\nlines", "--attribute", "env=test")
    let shown = program.line("show alice").output
    let facts = shown.split(separator: "\n").map {
      $0.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
    }
    #expect(facts.contains(["account", "alice"]) && facts.contains(["label", "two\\nlines"]))
    #expect(facts.contains(["attribute", "env=test"]) && !shown.contains("hunter2"))
    let version = try #require(facts.first { $0.first == "version" }?.last)
    #expect(UInt64(version) != nil)
  }

  @Test(arguments: ["show alice", "list"], [nil, 1000])
  func textOfAnItemControlsNoTerminal(command: String, columns: Int?) throws {
    let label = "a" + HiddenCharacters.all + "b"
    program.set("alice", "x", "--label", label)
    for options in ["", " --json"] {
      let shown = program.line(command + options, columns: columns).output
      #expect(HiddenCharacters.found(in: shown).isEmpty && shown.contains("\\u"), "\(shown)")
    }
    let json = try JSONSerialization.jsonObject(with: Data(program.line(command + " --json").bytes))
    let object = (json as? [String: Any]) ?? (json as? [[String: Any]])?.first
    #expect(object?["label"] as? String == label)
  }

  @Test(arguments: ["get", "show", "update", "delete"])
  func nameInAMessageControlsNoTerminal(command: String) {
    let name = "\u{1B}[31mred\u{7}\u{202E}"
    let options = command == "update" ? ["--label", "x"] : []
    let absent = program.run([command, name] + options, columns: 80)
    #expect(absent.failed(44) && HiddenCharacters.found(in: absent.messages).isEmpty)
    program.set(name)
    #expect(HiddenCharacters.found(in: program.run("list").output).isEmpty)
    #expect(HiddenCharacters.found(in: program.run("show", name).output).isEmpty)
  }

  @Test(arguments: ["👩‍💻", "❤️", "👩🏽‍❤️‍👨🏻", "1️⃣", "日本 é ş"])
  func visibleTextStays(text: String) throws {
    program.set("alice", "x", "--label", text)
    #expect(program.line("show alice").output.contains(text))
    #expect(try program.shown("alice")["label"] as? String == text)
  }
}
