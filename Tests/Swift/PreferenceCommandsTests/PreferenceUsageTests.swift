// What people type by mistake, or as they know it from `defaults`, changes nothing; the message says
// what to type.

import CommandTesting
import Testing

@testable import PreferenceCommands

@Suite("Wrong use of the commands for preferences")
struct PreferenceUsageTests {
  private let program = TestedPreferences()

  @Test(
    arguments: [
      ["write", "key"], ["write", "key", "a", "b"], ["write", "key", "secret", "--type", "int"],
      ["write", "key", "{secret", "--json"], ["write", "key", "null", "--json"], ["delete"],
      ["write", "key", "--type", "int", "-5"], ["write", "key", "x", "--type", "number"],
      ["delete", "key", "--all"], ["read", "--raw"], ["write", "key", "secret", "--raw"],
      ["watch", "--until", "x"], ["read", "com.example", "key"],
    ])
  func wrongUseIsRefused(_ words: [String]) {
    let refused = program.inWeb(words)
    #expect(refused.failed(64) && !refused.messages.contains("secret"))
    #expect(program.domainCount == 0)
  }

  @Test(
    arguments: [
      ["read", "key"], ["write", "a", "b"], ["delete", "key"], ["watch"], ["export"],
      ["import", "-"],
    ])
  func domainIsNeeded(_ words: [String]) {
    #expect(program.run(words).failed(64, "'prefs list' shows the domains"))
  }

  @Test(
    arguments: [
      ("a/b", "not the path of a file"), ("/etc/passwd", "not the path of a file"),
      ("", "the name of the domain is empty"), ("NSGlobalDomain", "there is no global domain"),
    ])
  func nameThatNoDomainHasIsRefused(name: String, text: String) {
    #expect(program.run("write", "--domain", name, "key", "value").failed(64, text))
    #expect(program.run("read", "--domain", name).failed(64, text))
    #expect(program.domainCount == 0)
  }

  // MARK: As in `defaults`

  @Test(
    arguments: [
      ["read", "web", "key"], ["read", "web"], ["write", "web", "key", "-int", "3"],
      ["delete", "web", "key"], ["export", "web"], ["import", "web"], ["watch", "web"],
    ])
  func domainAsFirstWordIsRecognized(_ words: [String]) {
    program.inWeb("write", "key", "value")
    #expect(program.run(words).failed(64, "did you mean '--domain web'?"))
    #expect(program.listed == "key\tstring\tvalue\n")
  }

  @Test(arguments: [["a"], ["-int", "5"], ["-array", "a"]])
  func newDomainAsFirstWordIsRecognized(_ value: [String]) {
    let refused = program.run(["write", "com.example.new", "key"] + value)
    #expect(refused.failed(64, "did you mean '--domain com.example.new'?"))
    let unnamed = program.run(["write", "key"] + value)
    #expect(unnamed.failed(64) && !unnamed.messages.contains("did you mean"))
    #expect(program.domainCount == 0)
  }

  @Test(
    arguments: ["read", "write", "delete", "export"],
    [
      ["-g"], ["-globalDomain"], ["NSGlobalDomain"], ["Apple Global Domain"], ["-d", "-g"],
      ["-app", "Safari"],
    ])
  func otherDomainsHaveAHint(command: String, options: [String]) {
    let value = command == "write" ? ["value"] : []
    let refused = program.run([command] + options + ["key"] + value)
    #expect(refused.failed(64, "'prefs list' shows the domains"))
    #expect(
      refused.messages.contains("--domain") || refused.messages.contains("no global domain"))
    #expect(program.domainCount == 0)
  }

  @Test(
    arguments: [
      ["-currentHost", "read", "web", "key"], ["read", "-currentHost", "web", "key"],
      ["write", "--domain", "web", "-currentHost", "key", "value"],
    ])
  func hostsHaveAHint(_ words: [String]) {
    let refused = program.run(words)
    #expect(refused.failed(64) && refused.hints.contains("leave -currentHost out"))
  }

  @Test(
    arguments: [
      (["read-type", "web", "key"], "prefs list KEY"),
      (["rename", "web", "a", "b"], "write the new key"), (["delete-all"], "prefs delete --all"),
      (["domains"], "'prefs list' shows"), (["find", "word"], "prefs list '*WORD*'"),
      (["-g", "read"], "'prefs list' shows"),
    ])
  func otherCommandsHaveAHint(words: [String], hint: String) {
    let refused = program.run(words)
    #expect(refused.failed(64) && refused.hints.contains(hint))
  }

  @Test(arguments: [("domains", "list"), ("find", "list"), ("read-type", "read")])
  func otherCommandIsGuessed(word: String, name: String) {
    #expect(program.run(word).failed(64, "did you mean '\(name)'?"))
  }

  @Test(
    arguments: [
      (["read", "key", "--domian", "web"], "--domain"),
      (["write", "key", "value", "--typ", "int", "--domain", "web"], "--type"),
      (["write", "key", "value", "--exepct", "x", "--domain", "web"], "--expect"),
      (["delete", "--al", "--domain", "web"], "--all"),
      (["write", "--jsn", "--domain", "web"], "--json"),
    ])
  func optionWithATypoIsGuessed(words: [String], meant: String) {
    #expect(program.run(words).failed(64, "did you mean '\(meant)'?"))
  }

  @Test func emptyValueOfAnOptionHasAHint() {
    program.inWeb("write", "other", "x")
    #expect(program.inWeb("read", "--default=", "key").hints.hasSuffix(": --default ''"))
    #expect(program.inWeb("read", "key", "--default", "").printed("\n"))
    #expect(program.run("read", "-d=").hints.hasSuffix(": -d ''"))
    let unknown = program.inWeb("read", "--p4ss=")
    #expect(unknown.failed(64) && !unknown.messages.contains("p4ss"))
  }
}
