// Secrets that are stored, read and replaced, and what is said about them.
import CommandTesting
import Foundation
import Testing

@testable import KeychainCommands

@Suite("Secrets in and out, on a store in memory")
struct CredentialCommandTests {
  private let program = TestedProgram()

  @Test(
    arguments: [
      [], Array("x".utf8), [10], Array("a\nb\n\n".utf8), [0], [0, 255, 0, 128], Array(0...255),
      [13, 10],
      Array("ключ🔑".utf8),
    ] as [[UInt8]])
  func everyByteComesBack(secret: [UInt8]) throws {
    let stored = program.run(["set", "--allow-empty", "alice"], input: secret)
    #expect(stored.code == 0 && stored.bytes.isEmpty)
    #expect(program.run("get", "alice").bytes == secret)
    #expect(program.run("get", "alice", "--newline", "always").bytes == secret + [10])
    #expect(program.run("get", "alice", "--newline", "never", columns: 80).bytes == secret)
    let answer = try program.run("get", "alice", "--json").object()
    let text = try #require(answer["secret"] as? String)
    if String(validating: secret, as: UTF8.self) != nil {
      #expect(answer["encoding"] as? String == "utf-8" && Array(text.utf8) == secret)
    } else {
      #expect(answer["encoding"] as? String == "base64")
      #expect(Data(base64Encoded: text) == Data(secret))
    }
  }

  @Test func newlineFollowsOnATerminal() {
    #expect(program.set("alice", "s3cret").isSilent)
    #expect(program.run("get", "alice", columns: 80).output == "s3cret\n")
    let read = program.run("get", "alice")
    #expect(read.output == "s3cret" && read.messages.isEmpty)
  }

  @Test(arguments: [["get", "alice"], ["read", "keychain://default/alice"]])
  func dashIsStandardOutput(command: [String]) {
    program.set("alice", "secret")
    #expect(program.run(command + ["--output", "-"]).output == "secret")
  }

  @Test(arguments: [[], ["--overwrite"]])
  func fileInAMissingFolderIsNamed(options: [String]) {
    program.set("alice")
    let failed = program.run(["get", "alice", "--output", "/nowhere/of/tests/out"] + options)
    #expect(failed.failed(74, "/nowhere/of/tests/out"))
    #expect(failed.messages.contains("no such file or directory"))
  }

  @Test func personIsAskedTwice() {
    let person = ScriptedPerson("s3cret", "s3cret")
    var program = program
    program.person = person
    #expect(program.run("set", "alice").code == 0)
    #expect(
      person.questions == [
        "secret for alice (service default): ",
        "the same secret for alice (service default) again: ",
      ])
    #expect(program.run("get", "alice").output == "s3cret")
  }

  @Test(arguments: [
    (["ci", "--service", "x y"], "ci (service x y)"),
    (["ci", "-g", "team"], "ci (service default, access group team)"),
    (["ci", "--server", "example.org"], "ci (server example.org)"),
    (["", "--server", "example.org"], "server example.org"),
  ])
  func questionsNameTheAccount(words: [String], name: String) {
    let person = ScriptedPerson("1", "1")
    var program = program
    program.person = person
    #expect(program.run(["set"] + words).code == 0)
    #expect(person.questions == ["secret for \(name): ", "the same secret for \(name) again: "])
  }

  @Test(arguments: [
    ("token\n", "the secret ends with a newline; use --trim-newline to remove it"),
    ("\u{FEFF}token", "byte order mark"),
    // Without the newline at its end, a key of SSH is not read.
    ("-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n", ""),
  ])
  func hintsAboutASecretFitIt(secret: String, hint: String) {
    let stored = program.set("alice", secret)
    #expect(hint.isEmpty ? stored.isSilent : stored.code == 0 && stored.hints.contains(hint))
    #expect(program.run("get", "alice").bytes == Array(secret.utf8))
  }

  @Test func trimmingDropsOneNewline() {
    #expect(program.set("alice", "secret\n\n", "--trim-newline").isSilent)
    #expect(program.get("alice") == "secret\n")
    #expect(program.set("alice", "secret", "--trim-newline").isSilent)
    #expect(program.get("alice") == "secret")
  }

  /// An unset variable or a command that failed must not look like a secret.
  @Test(
    arguments: [("", ""), ("\n", "--trim-newline"), ("", "--create-only")], [false, true])
  func emptySecretNeedsAnOption(given: (secret: String, option: String), exists: Bool) throws {
    if exists { program.set("alice", "secret") }
    let options = given.option.isEmpty ? [] : [given.option]
    let refused = program.run(["set", "alice"] + options, input: Array(given.secret.utf8))
    #expect(refused.failed(64, "nothing was changed") && refused.hints.contains("--allow-empty"))
    #expect(!refused.hints.contains("the secret is empty"))
    #expect(program.get("alice") == (exists ? "secret" : ""))
    #expect(try program.accounts() == (exists ? ["alice"] : []))
  }

  @Test func emptySecretIsReported() {
    #expect(program.set("alice", "secret").isSilent)
    #expect(program.run("set", "alice", "--insecure-value", "").code == 64)
    #expect(program.set("alice", "", "--create-only", "--allow-empty").code == 75)
    #expect(program.get("alice") == "secret")
    #expect(program.set("alice", "", "--allow-empty").hints == "the secret is empty")
    let read = program.run("get", "alice")
    #expect(read.code == 0 && read.bytes.isEmpty)
  }

  @Test func hintsAboutASecretComeWhenItIsStored() {
    let absent = program.set("alice", "secret\n", "--expected-version", "7")
    #expect(absent.failed(44) && absent.hints.isEmpty)
    let refused = program.set(
      "alice", "", "--allow-empty", "--accessibility", "whenPasscodeSetThisDeviceOnly")
    #expect(refused.failed(79) && !refused.hints.contains("empty"))
  }

  @Test func valueInArgumentsIsTakenWithAWarning() {
    let stored = program.run("set", "alice", "--insecure-value", "-secret")
    #expect(stored.code == 0 && stored.hints.contains("other processes"))
    #expect(program.get("alice") == "-secret")
  }

  @Test func secondArgumentIsNotTheSecret() {
    let refused = program.run("set", "alice", "hunter2")
    #expect(refused.failed(64, "standard input") && !refused.messages.contains("hunter2"))
  }

  @Test func secretIsExactWhateverItHolds() throws {
    let secret = HiddenCharacters.all
    program.set("alice", secret)
    #expect(program.run("get", "alice").bytes == Array(secret.utf8))
    #expect(try program.run("get", "alice", "--json").object()["secret"] as? String == secret)
  }

  @Test(arguments: ["-q", "--quiet"])
  func quietSaysNothingButErrors(option: String) {
    #expect(program.set("alice", "1\n", option).isSilent)
    let missing = program.run("get", "alicia", option)
    #expect(missing.failed(44, "no credential 'alicia'") && missing.hints.isEmpty)
    #expect(program.run("get", "alcie").hints == "did you mean alice?")
  }
}
