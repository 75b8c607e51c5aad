// --dry-run shows what would change, changes nothing, and ends as the command would.

import CommandTesting
import Foundation
import Testing

@testable import PreferenceCommands

@Suite("Changes of preferences that are only shown")
struct PreferenceDryRunTests {
  private let program: TestedPreferences = {
    let program = TestedPreferences()
    program.inWeb("write", "port", "8080", "--type", "int")
    program.inWeb("write", "name", "web")
    return program
  }()

  private static let before = "name\tstring\tweb\nport\tint\t8080\n"
  private static let file = #"{"port": 9, "name": "web", "new": [1, {"a": null}]}"#

  @Test(
    arguments: [
      (["write", "port", "9", "--type", "int"], "-\tport\tint\t8080\n+\tport\tint\t9\n"),
      (["write", "a", "1\t2"], "+\ta\tstring\t1\\t2\n"),
      (["delete", "port"], "-\tport\tint\t8080\n"),
      // Nobody is asked.
      (["delete", "--all"], "-\tname\tstring\tweb\n-\tport\tint\t8080\n"),
    ])
  func changesAreShown(words: [String], diff: String) {
    #expect(program.inWeb(words + ["--dry-run"]).printed(diff))
    #expect(program.listed == Self.before)
  }

  @Test(
    arguments: [["write", "name", "web"], ["delete", "none", "--if-exists"]])
  func nothingWouldChange(_ words: [String]) {
    let dry = program.inWeb(words + ["--dry-run"])
    #expect(dry.code == 0 && dry.bytes.isEmpty)
    #expect(dry.messages == "prefs: nothing would change\n")
  }

  @Test func importIsShown() {
    let dry = program.inWeb("import", "-", "--dry-run", input: Self.file)
    #expect(
      dry.output == "+\tnew\tarray\t[1,{}]\n-\tport\tint\t8080\n+\tport\tint\t9\n")
    #expect(
      dry.messages.contains("would import 3 preferences into 'web': 1 new, 1 changed"))
    let replaced = program.inWeb("import", "-", "--replace", "--dry-run", input: "{}")
    #expect(replaced.output == "-\tname\tstring\tweb\n-\tport\tint\t8080\n")
    #expect(replaced.messages.contains("2 deleted"))
    #expect(program.listed == Self.before)
  }

  @Test func terminalGetsATable() {
    let dry = program.inWeb("write", "port", "9", "--type", "int", "--dry-run", columns: 80)
    #expect(dry.printed("   KEY   TYPE  VALUE\n-  port  int   8080\n+  port  int   9\n"))
  }

  @Test func changesAreShownInJSON() throws {
    func differences(_ words: String...) throws -> NSArray {
      let dry = program.inWeb(words + ["--dry-run", "--diff-json"])
      #expect(dry.code == 0)
      return try #require(JSONSerialization.jsonObject(with: Data(dry.bytes)) as? NSArray)
    }
    let (old, new) = (
      ["type": "int", "value": 8080] as NSDictionary, ["type": "int", "value": 9] as NSDictionary
    )
    #expect(
      try differences("write", "port", "9", "--json") == [
        ["key": "port", "old": old, "new": new] as NSDictionary
      ])
    #expect(
      try differences("delete", "port") == [
        ["key": "port", "old": old, "new": NSNull()] as NSDictionary
      ])
    #expect(try differences("write", "name", "web").count == 0)
    #expect(program.inWeb("write", "a", "1", "--diff-json").failed(64, "goes with --dry-run"))
    #expect(program.listed == Self.before)
  }

  @Test func elementsAreAddedToThoseThatThereAre() {
    program.inWeb("write", "list", "--json", "[1]")
    let dry = program.inWeb("write", "list", "--dry-run", "-array-add", "2")
    #expect(dry.printed("-\tlist\tarray\t[1]\n+\tlist\tarray\t[1,\"2\"]\n"))
  }

  @Test(
    arguments: [
      (79, ["write", "port", "9"]), (75, ["write", "port", "9", "--type", "int", "--if-absent"]),
      (75, ["write", "port", "9", "--type", "int", "--expect", "1"]), (44, ["delete", "none"]),
      (44, ["delete", "port", "none"]), (64, ["write", "port", "--json", "null"]),
      (65, ["write", "port", "-array-add", "1"]), (65, ["import", "/dev/null"]),
    ] as [(Int32, [String])])
  func refusalsAreTheSame(code: Int32, words: [String]) {
    // The options of `defaults` take the rest of a line.
    let dry = program.inWeb(words.prefix(1) + ["--dry-run"] + words.dropFirst())
    let refused = program.inWeb(words)
    #expect(dry.failed(code) && refused.failed(code) && dry.messages == refused.messages)
    #expect(program.listed == Self.before)
  }

  @Test func domainIsNotCreated() {
    let program = TestedPreferences()
    #expect(program.inWeb("write", "port", "9", "--dry-run").printed("+\tport\tstring\t9\n"))
    #expect(program.inWeb("write", "port", "9", "--expect", "1", "--dry-run").failed(75))
    #expect(program.inWeb("delete", "--all", "--dry-run").failed(44))
    #expect(
      program.inWeb("import", "-", "--replace", "--dry-run", input: Self.file).output
        == "+\tname\tstring\tweb\n+\tnew\tarray\t[1,{}]\n+\tport\tint\t9\n")
    #expect(program.domainCount == 0)
  }
}
