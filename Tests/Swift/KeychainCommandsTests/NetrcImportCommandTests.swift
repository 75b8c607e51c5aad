// Passwords move from a netrc file into a store: what is said of it, and what stays in the file.

import CommandTesting
import Foundation
import KeychainCredentials
import Testing

@testable import KeychainCommands

@Suite("Imports of netrc files")
struct NetrcImportCommandTests {
  private static let text = """
    # mine
    machine Git.Example login alice password "p w#1" # note
    machine packages.example
      login token
      password hunter2
    default login anonymous password x

    """

  /// What is left of it.
  private static let rest = "# mine\n# note\ndefault login anonymous password x\n"

  private let home: ClientHome
  private let store = InMemoryCredentialStore()
  private var path: String { home.file(".netrc") }

  init() throws {
    home = try ClientHome()
    try home.write(Self.text, to: ".netrc")
  }

  private var program: TestedProgram {
    TestedProgram(store: store, environment: home.environment)
  }

  private func importing(_ options: String..., input: String = "") -> CommandRun {
    program.run(["import", "--format", "netrc"] + options, input: Array(input.utf8))
  }

  private func password(_ server: String, _ account: String) -> String {
    program.run("get", account, "--server", server, "--protocol", "https").output
  }

  private var left: String? { home.text(of: ".netrc") }

  private var itemCount: Int {
    get throws { try store.search(CredentialQuery()).credentials.count }
  }

  // MARK: - What is imported

  @Test func dryRunStoresNothing() throws {
    struct Report: Decodable, Equatable {
      var added = 2
      var differing: [String] = []
      var dryRun = true
      var leftAlone = 0
      var notTaken = ["isDefault": 1]
      var overwritten = 0
      var removedEntries = 2
      var unchanged = 0
    }
    let dry = importing("--dry-run", "--remove", "--json")
    #expect(dry.code == 0)
    #expect(try dry.answer() == Report())
    #expect(dry.messages.contains("prefs: would import 2 items\n"))
    #expect(dry.messages.contains("prefs: would remove 2 entries from '\(path)'\n"))
    #expect(try itemCount == 0 && left == Self.text)
  }

  @Test func passwordsAreStoredAndTheFileIsKeptUnlessAsked() throws {
    let made = importing()
    #expect(made.code == 0 && made.output.isEmpty)
    #expect(
      made.messages == """
        prefs: not taken: 1 entry, for all hosts: line 6
        prefs: imported 2 items
        prefs: 2 entries that are stored now stay in '\(path)'
        prefs: hint: --remove removes them from the file

        """)
    #expect(password("git.example", "alice") == "p w#1")
    #expect(password("packages.example", "token") == "hunter2")
    #expect(left == Self.text)
    let again = importing("--remove")
    #expect(again.messages.contains("imported 0 items; 2 there already, unchanged\n"))
    #expect(again.messages.contains("removed 2 entries from '\(path)'\n"))
    #expect(left == Self.rest)
    #expect(try home.mode(of: ".netrc") == 0o600)
    #expect(try home.names(in: ".") == [".netrc", "bin", "executable"])
  }

  @Test func fileWithoutAnythingElseIsRemoved() throws {
    try home.write("machine h login l password p\n\n", to: ".netrc")
    #expect(importing("--remove").messages.contains("removed '\(path)', which had nothing else"))
    #expect(!home.exists(".netrc"))
    let missing = importing("--remove")
    #expect(missing.code == 44)
    #expect(missing.messages.hasPrefix("prefs: error: there is no .netrc in the home folder\n"))
  }

  @Test func linkStaysAndWhatItLeadsToIsRewritten() throws {
    try FileManager.default.removeItem(atPath: path)
    try home.write(Self.text, to: "dotfiles")
    try home.link(".netrc", to: "dotfiles")
    #expect(importing("--remove").code == 0)
    #expect(home.text(of: "dotfiles") == Self.rest && home.target(of: ".netrc") == "dotfiles")
    try home.write("machine h login l password p\n", to: "dotfiles")
    #expect(importing("--remove").code == 0)
    #expect(home.text(of: "dotfiles") == "")
  }

  @Test func fileThatOthersCanReadIsReportedAndClosed() throws {
    try home.setMode(0o644, of: ".netrc")
    let made = importing("--remove")
    #expect(made.messages.contains("prefs: other users can read '\(path)': consider"))
    #expect(made.messages.contains("prefs: hint: run 'chmod 600 "))
    #expect(try home.mode(of: ".netrc") == 0o600)
  }

  @Test func differingPasswordsAreKeptUnlessOverwritten() throws {
    struct Item: Decodable, Equatable {
      var label: String?
      var expires: String?
    }
    program.run(
      "set", "alice", "--server", "git.example", "--protocol", "https", "--label", "L",
      "--expires", "2099-01-01", input: "newer")
    let kept = importing("--remove")
    #expect(kept.messages.contains("left alone: 'alice' of server 'git.example'"))
    #expect(kept.messages.contains("prefs: hint: ") && kept.messages.contains("--overwrite"))
    #expect(password("git.example", "alice") == "newer")
    #expect(left?.contains("Git.Example") == true && left?.contains("hunter2") == false)
    #expect(importing("--remove", "--overwrite").code == 0)
    let shown = program.run("show", "alice", "--server", "git.example", "--json")
    #expect(try shown.answer() == Item(label: "L"))
    #expect(password("git.example", "alice") == "p w#1")
    #expect(left == Self.rest)
  }

  @Test func entryWithAnotherWordStaysWithItsLine() throws {
    struct Report: Decodable { let notTaken: [String: Int], added: Int }
    let other = "machine api.example login a password secret method interactive\n"
    try home.write("# mine\n\(other)machine b.example login b password u\n", to: ".netrc")
    let made = importing("--remove", "--json")
    let report = try made.answer(as: Report.self)
    #expect(report.notTaken == ["hasUnknownWord": 1] && report.added == 1)
    #expect(made.messages.contains("with a word that netrc does not have: api.example (line 2)"))
    #expect(!made.messages.contains("secret") && left == "# mine\n\(other)")
  }

  @Test func inputIsReadAndNotRewritten() {
    let made = importing("-", input: Self.text)
    #expect(made.code == 0 && made.messages.contains("imported 2 items\n"))
    #expect(!made.messages.contains("stay"))
    #expect(password("packages.example", "token") == "hunter2")
    let refused = importing("-", "--remove", input: Self.text)
    #expect(refused.code == 64 && refused.messages.contains("--remove cannot edit standard input"))
  }

  // MARK: - What is asked

  @Test(arguments: [("n", text), ("y", rest)])
  func personIsAskedBeforeTheFileChanges(answer: String, left: String) {
    let person = ScriptedPerson(answer)
    var program = program
    program.person = person
    #expect(program.run("import", "--format", "netrc").code == 0)
    #expect(
      person.questions == ["remove the 2 entries that are stored now from '\(path)'? [y/N] "])
    #expect(self.left == left)
    #expect(password("packages.example", "token") == "hunter2")
  }

  @Test func cancellingAtTheQuestionSaysWhatIsStored() {
    var program = program
    program.person = ScriptedPerson()
    let cancelled = program.run("import", "--format", "netrc")
    #expect(cancelled.code == 130)
    #expect(
      cancelled.messages.contains(
        "prefs: error: cancelled; the passwords are stored, and '\(path)' was not changed\n"))
    #expect(left == Self.text && password("packages.example", "token") == "hunter2")
  }

  @Test(arguments: ["--keep", "--session-only"])
  func nobodyIsAskedIfTheFileStays(option: String) {
    let person = ScriptedPerson()
    var program = program
    program.person = person
    let made = program.run("import", "--format", "netrc", option)
    #expect(made.code == 0 && person.questions.isEmpty)
    #expect(made.messages.contains("stored now stay") && !made.messages.contains("remove"))
    #expect(left == Self.text)
  }

  // MARK: - What is refused

  @Test(arguments: ["--dry-run", "--remove", "--overwrite"])
  func longNamesAreListedAndNothingIsImported(option: String) throws {
    let long = String(repeating: "l", count: 65536)
    let text = Self.text + "machine long.example login \(long) password p\n"
    try home.write(text, to: ".netrc")
    let refused = importing(option)
    #expect(refused.code == 79)
    #expect(refused.messages.contains("1 credential has more than 65536 bytes"))
    #expect(refused.messages.contains("nothing was changed: long.example (line 7)"))
    #expect(!refused.messages.contains("lll"))
    #expect(try itemCount == 0 && left == text)
  }

  @Test func nothingIsStoredOfAnUnreadableFile() throws {
    try home.write(Self.text + "machine h login l password \"secret\n", to: ".netrc")
    let failed = importing("--remove")
    #expect(failed.code == 65)
    #expect(failed.messages.contains("line 7") && !failed.messages.contains("secret"))
    #expect(try itemCount == 0)
  }

  @Test func hardLinksAreRefused() throws {
    struct Report: Decodable { let unchanged: Int, removedEntries: Int }
    try FileManager.default.linkItem(atPath: path, toPath: home.file("other"))
    let failed = importing("--remove")
    #expect(failed.code == 79 && failed.messages.contains("hard links") && left == Self.text)
    #expect(failed.messages.contains("the passwords are stored, and may still be in '\(path)'"))
    let dry = importing("--remove", "--dry-run")
    #expect(dry.code == 79 && dry.messages.contains("hard links"))
    let again = importing("--remove", "--json")
    let report = try again.answer(as: Report.self)
    #expect(again.code == 79 && report.unchanged == 2 && report.removedEntries == 0)
    #expect(password("packages.example", "token") == "hunter2")
  }

  @Test func onlyRegularFilesAreRead() {
    let failed = importing(home.path)
    #expect(failed.code == 79)
    #expect(
      failed.messages == """
        prefs: error: '\(home.path)' is not a regular file
        prefs: hint: name the netrc file, or redirect it to standard input

        """)
  }

  @Test func lockedStoreTakesNothing() throws {
    store.lock(all: true)
    let refused = importing("--remove")
    #expect(refused.code == 77 && refused.messages.contains("locked") && left == Self.text)
    store.unlock()
    #expect(try itemCount == 0)
  }

  @Test(arguments: [["--remove"], ["--keep"], ["--store", "vault"]])
  func optionsOfNetrcNeedItsFormat(options: [String]) {
    let refused = program.run(["import", "x"] + options)
    #expect(refused.code == 64 && refused.messages.contains("--format netrc"))
  }

  @Test(arguments: [
    (["import"], "<file>"),
    (["import", "--format", "netrc", "--keep", "--remove"], "exclude"),
    (["import", "--format", "netrc", "--export-passphrase-file", "x"], "passphrase"),
    (["import", "--format", "netrc", "--session-only", "--remove"], "--session-only"),
  ])
  func wrongUsageNamesWhatIsWrong(words: [String], word: String) {
    let refused = program.run(words)
    #expect(refused.code == 64 && refused.output.isEmpty && left == Self.text)
    #expect(refused.messages.hasPrefix("prefs: error: ") && refused.messages.contains(word))
  }
}
