// What `run` says before it starts a command: plans, and what it refuses.
//
// A command that started would take the place of the test's process, so none of the names leads to one.

import CommandTesting
import Foundation
import KeychainCredentials
import Testing

@testable import KeychainCommands

@Suite("Commands that are not started")
struct RunCommandTests {
  /// What `--dry-run --json` prints.
  private struct Plan: Decodable, Equatable {
    struct Variable: Decodable, Equatable {
      var name: String
      var reference: String?
      var source: String
    }

    struct File: Decodable, Equatable {
      var name: String
      var reference: String
    }

    var variables: [Variable]
    var files: [File] = []
    var netrc: [String] = []
  }

  private static let missing = "no-such-command"

  private let home: ClientHome
  private var program: TestedProgram

  init() throws {
    home = try ClientHome()
    program = TestedProgram(environment: home.environment)
    program.run("set", "token", "--service", "s", input: "s3cret")
  }

  private func run(_ words: [String]) -> CommandRun { program.run(["run"] + words) }

  /// Runs it to its plan, and to a command that is not there.
  private func refusals(_ options: [String]) -> [CommandRun] {
    [run(["--dry-run"] + options), run(options + ["--", Self.missing])]
  }

  // MARK: - Plans

  @Test func planReadsNoStore() throws {
    let path = try home.write(
      "B=keychain://s/nobody?field=username\nC=hush\n", to: ".env")
    let options = [
      "-e", "A=keychain:///x", "--env-file", path, "--file", "F=keychain://s/f",
      "--netrc", "me@example.com", "--", Self.missing,
    ]
    let store = InMemoryCredentialStore()
    store.fail(with: KeychainError(.inputOutput, "the disk is broken"))
    var program = program
    program.store = store
    let text = program.run(["run", "--dry-run"] + options)
    #expect(text.code == 0 && text.messages.isEmpty)
    #expect(
      text.output == """
        NAME   VALUE                               FROM
        A      keychain:///x                       --env
        B      keychain://s/nobody?field=username  --env-file
        C      (plain text)                        --env-file
        F      keychain://s/f                      a file in memory
        NETRC  me@example.com                      an entry of a netrc file in memory

        """)
    let json = program.run(["run", "--dry-run", "--json"] + options)
    #expect(
      try json.answer()
        == Plan(
          variables: [
            .init(name: "A", reference: "keychain:///x", source: "option"),
            .init(name: "B", reference: "keychain://s/nobody?field=username", source: "file"),
            .init(name: "C", source: "file"),
          ],
          files: [.init(name: "F", reference: "keychain://s/f")], netrc: ["me@example.com"]))
  }

  @Test func planIsATableOnATerminal() {
    let table = program.run("run", "--dry-run", "-e", "LONG_NAME=keychain://s/token", columns: 80)
    #expect(
      table.output == """
        NAME       VALUE               FROM
        LONG_NAME  keychain://s/token  --env

        """)
  }

  @Test func inheritedReferencesAreReadOnRequest() throws {
    var program = program
    program.environment["A"] = "keychain://s/token"
    program.environment["B"] = "plain"
    let words = ["run", "--dry-run", "--json"]
    #expect(try program.run(words).answer() == Plan(variables: []))
    let inherited = Plan.Variable(name: "A", reference: "keychain://s/token", source: "inherited")
    #expect(
      try program.run(words + ["--from-environment"]).answer() == Plan(variables: [inherited]))
    #expect(program.run(words + ["--from-environment", "--allow", "s"]).code == 0)
    let refused = program.run(words + ["--from-environment", "--allow", "t"])
    #expect(refused.code == 79 && refused.output.isEmpty)
    #expect(
      refused.messages.contains(
        "the inherited variable 'A': the service or server 's' is not allowed"))
  }

  @Test func inheritedReferenceIsPointedOut() {
    var program = program
    program.environment["TOKEN"] = "keychain://s/token"
    let hint =
      "prefs: hint: the inherited variable 'TOKEN' is a reference, which the command gets as it "
      + "is; --from-environment reads it\n"
    #expect(program.run("run", "--", Self.missing).messages.hasPrefix(hint))
    for options in [["--from-environment"], ["-e", "TOKEN=keychain://s/token"]] {
      let read = program.run(["run"] + options + ["--", Self.missing])
      #expect(read.code == 127 && !read.messages.contains("the inherited variable"))
    }
  }

  @Test func lastFileAndTheOptionCount() throws {
    let first = try home.write("A=1\nB=1\nF=1\n", to: "1.env")
    let last = try home.write("A=keychain://s/token\nC=2\n", to: "2.env")
    let files = ["--dry-run", "--json", "--env-file", first, "--env-file", last]
    let reference = "keychain://s/token"
    #expect(
      try run(files + ["--file", "F=\(reference)"]).answer()
        == Plan(
          variables: [
            .init(name: "A", reference: reference, source: "file"),
            .init(name: "C", source: "file"), .init(name: "B", source: "file"),
          ],
          files: [.init(name: "F", reference: reference)]))
    let names = try run(files + ["-e", "B=\(reference)"]).answer(as: Plan.self).variables
    #expect(names.map(\.name) == ["B", "A", "C", "F"] && names.first?.source == "option")
  }

  // MARK: - References

  @Test(arguments: [
    (["--netrc", "me:s3cret@example.com"], 64), (["--netrc", "https://me:s3cret@example.com"], 64),
    (["-e", "A=s3cret"], 64), (["-e", "s3cret"], 64), (["-e", "A=keychain:s3cret"], 64),
    (["-e", "A=keychain://s/token", "-e", "A=keychain://s/token"], 64),
    (["-e", "A=keychain://s/token", "--file", "A=keychain://s/token"], 64),
    (["--file", "A-B=keychain://s/token"], 64),
    (["-e", "KEYCHAIN_PASSPHRASE=keychain://s/token"], 79),
  ])
  func wrongRequestIsRefused(options: [String], code: Int) {
    for refused in refusals(options) {
      #expect(refused.code == Int32(code) && refused.output.isEmpty)
      #expect(refused.messages.hasPrefix("prefs: error: "))
      #expect(!refused.messages.contains("s3cret"))
    }
  }

  @Test(arguments: [
    ("A=keychain://s/token\n", ["--allow", "t"], 79, "line 1: the service or server 's'"),
    ("A=x # y\n", [], 65, "line 1"), ("PATH=/tmp\n", [], 79, "PATH"),
    ("\u{FEFF}A=b\n", [], 65, "byte order mark"),
  ])
  func wrongFileOfVariablesIsRefused(
    text: String, options: [String], code: Int, word: String
  ) throws {
    let path = try home.write(text, to: ".env")
    for refused in refusals(["--env-file", path] + options) {
      #expect(refused.code == Int32(code) && refused.output.isEmpty)
      #expect(refused.messages.hasPrefix("prefs: error: ") && refused.messages.contains(word))
    }
  }

  @Test func fileOfVariablesMustBeAFileWithText() throws {
    let bytes = try home.write([0x41, 0x3D, 0xFF, 0x0A], to: "bytes")
    for (path, code) in [(home.file("missing"), 74), (home.path, 74), (bytes, 65)] {
      for refused in refusals(["--env-file", path]) {
        #expect(refused.code == Int32(code) && refused.messages.contains(path))
      }
    }
  }

  // MARK: - Command lines

  @Test(arguments: [
    (["--service", "s3cret"], "--service"), (["--pasword=s3cret"], "--pasword"),
    (["-xs3cret"], "-x"),
  ])
  func misspeltOptionIsNamedWithoutItsValue(words: [String], name: String) {
    let refused = run(words + ["--", Self.missing])
    #expect(refused.code == 64 && refused.output.isEmpty)
    #expect(
      refused.messages == """
        prefs: error: '\(name)' is not an option of this command
        prefs: hint: write the command to run after --

        """)
  }

  @Test(arguments: [
    ["run", "--help"], ["run", "-h"], ["help", "run"], ["run", "-e", "A=x", "--help"],
  ])
  func helpIsNotTakenForTheCommand(words: [String]) {
    let help = program.run(words)
    #expect(help.code == 0 && help.output.contains("--env-file") && help.messages.isEmpty)
  }

  @Test(arguments: [
    ([], "there is no command to run"), (["--"], "there is no command to run"),
    (["--", ""], "there is no command to run"),
    (["--no-such-option", missing], "'--no-such-option' is not an option"),
    (["-x", "--", missing], "'-x' is not an option"), (["-c", missing], "is not a command"),
    (["--json", "--", missing], "--dry-run"), (["--named-files", "--", missing], "--file"),
    (["--allow", "s", "--", missing], "--env-file"),
    (["--passphrase-fd", "1", "--", missing], "descriptors 1 and 2"),
    (["--passphrase-fd", "2", "--", missing], "descriptors 1 and 2"),
  ])
  func wrongUsageNamesWhatIsWrong(words: [String], word: String) {
    let refused = run(words)
    #expect(refused.code == 64 && refused.output.isEmpty)
    #expect(refused.messages.hasPrefix("prefs: error: ") && refused.messages.contains(word))
  }

  @Test(arguments: [missing, "./\(missing)", "/nowhere/\(missing)"])
  func commandThatIsNotThereHasItsCode(name: String) {
    let refused = run(["-e", "A=keychain://s/token", "--", name])
    #expect(refused.code == 127 && refused.output.isEmpty)
    #expect(refused.messages.hasPrefix("prefs: error: ") && refused.messages.contains("not found"))
  }
}
