// Keys: missing ones, ones that look alike, and what a terminal shows of their values.

import CommandTesting
import Foundation
import Testing

@testable import PreferenceCommands

@Suite("Keys of preferences, and what is shown of them")
struct PreferenceKeyTests {
  private let program = TestedPreferences()

  @Test func absentDomainIsNotCreated() {
    for words in [["read", "key"], ["list"], ["export"], ["delete", "key"]] {
      #expect(program.inWeb(words).failed(44, "'web'"))
    }
    #expect(program.run("list").isSilent)
    #expect(program.inWeb("delete", "key", "--if-exists").isSilent)
    #expect(program.inWeb("read", "port", "--default", "80", "--type", "int").printed("80\n"))
    #expect(program.domainCount == 0)
  }

  @Test func missingNameIsGuessed() {
    program.inWeb("write", "port", "1")
    let key = program.inWeb("read", "prot")
    #expect(key.failed(44) && key.hints == "did you mean 'port'?")
    let domain = program.run("read", "port", "--domain", "wbe")
    #expect(domain.failed(44) && domain.hints == "did you mean 'web'?")
  }

  @Test func deletionIsAllOrNothing() {
    for key in ["a", "b", "c"] { program.inWeb("write", key, "1") }
    #expect(program.inWeb("delete", "a", "missing").failed(44))
    #expect(program.listed == "a\tstring\t1\nb\tstring\t1\nc\tstring\t1\n")
    #expect(program.inWeb("delete", "a", "missing", "--if-exists").isSilent)
    #expect(program.inWeb("delete", "--all").failed(64, "--yes"))
    #expect(program.listed == "b\tstring\t1\nc\tstring\t1\n")
    #expect(program.inWeb("delete", "--all", "--yes").isSilent)
    #expect(program.inWeb("list").isSilent)
  }

  @Test func deletionOfAllNeedsAgreement() {
    program.inWeb("write", "key", "1")
    var asked = program
    asked.answer = false
    #expect(asked.inWeb("delete", "--all").failed(130))
    #expect(program.listed == "key\tstring\t1\n")
    asked.answer = true
    #expect(asked.inWeb("delete", "--all").isSilent)
    #expect(program.inWeb("list").isSilent)
  }

  // MARK: Two spellings

  private static let composed = "caf\u{e9}"
  private static let decomposed = "cafe\u{301}"

  private func writeBothSpellings() {
    program.inWeb("write", Self.composed, "one")
    program.inWeb("write", Self.decomposed, "two")
  }

  @Test func keysThatLookAlikeAreListed() {
    writeBothSpellings()
    let listed = "\(Self.decomposed)\tstring\ttwo\n\(Self.composed)\tstring\tone\n"
    #expect(program.inWeb("list").bytes == Array(listed.utf8))
    let read = "{\n  \"\(Self.decomposed)\" : \"two\",\n  \"\(Self.composed)\" : \"one\"\n}\n"
    #expect(program.inWeb("read").bytes == Array(read.utf8))
  }

  @Test func keysThatLookAlikeAreMoved() {
    writeBothSpellings()
    let exported = program.inWeb("export", "--json")
    let imported = program.run(["import", "-", "--domain", "other"], input: exported.bytes)
    #expect(imported.code == 0 && imported.messages.contains("2 new"))
    #expect(program.run("export", "--json", "--domain", "other").bytes == exported.bytes)
    // A dictionary of a property list would lose one of them.
    #expect(program.inWeb("export", "--plist").failed(64, "JSON"))
    let nested = #"{"a": {"\#(Self.composed)": 1, "\#(Self.decomposed)": 2}}"#
    #expect(program.inWeb("import", "-", input: nested).failed(65))
    #expect(program.inWeb("delete", "--all", "--yes").isSilent)
    #expect(program.inWeb("list").isSilent)
  }

  // MARK: Terminals

  @Test(
    arguments: [
      (["read", "key"], "\u{1b}[31m"), (["list"], "\u{1b}[31m"),
      (["read", "--json"], "\u{1b}[31m"),
      // In a property list, text with an escape is data.
      (["export"], "\u{202e}"),
    ])
  func terminalGetsEscapes(words: [String], control: String) {
    program.inWeb("write", "key", control + "red")
    let shown = program.inWeb(words, columns: 200)
    #expect(shown.code == 0 && shown.output.contains("red"))
    #expect(!shown.output.unicodeScalars.contains(control.unicodeScalars.first ?? "r"))
    #expect(program.inWeb("read", "key").printed(control + "red\n"))
  }

  @Test func terminalGetsLinesAndTabs() {
    program.inWeb("write", "text", "one\r\n\ttwo\u{1b}")
    #expect(program.inWeb("read", "text", columns: 200).printed("one\\u{d}\n\ttwo\\u{1b}\n"))
    let exported = program.inWeb("export", columns: 200).output
    #expect(exported.contains("\t<key>text</key>\n") && !exported.contains("\\t"))
    #expect(!exported.unicodeScalars.contains("\u{1b}"))
  }
}
