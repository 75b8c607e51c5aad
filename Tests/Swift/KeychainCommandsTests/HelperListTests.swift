// Which settings of clients name the program, and what keeps the clients from using it.

import CommandTesting
import Foundation
import Testing

@testable import KeychainCommands

@Suite("The list of helpers")
struct HelperListTests {
  /// What the list says in JSON about a helper.
  private struct Helper: Decodable, Equatable {
    var helper: String
    var state: String
    var link: String?
    var inPath: Bool
    var configuredBy: [String]
    var unusable: [String]?
    var works: Bool?
  }

  private let home: ClientHome

  init() throws { home = try ClientHome() }

  private func listed(_ helper: String, _ program: TestedProgram? = nil) throws -> Helper {
    let program = program ?? home.program
    let all = try program.run("helpers", "list", "--json").answer(as: [Helper].self)
    return try #require(all.first { $0.helper == helper })
  }

  private func configureGit(_ values: String..., section: String = "credential") throws {
    let lines = values.map { value in
      let escaped = value.replacingOccurrences(of: "\\", with: "\\\\")
        .replacingOccurrences(of: "\"", with: "\\\"")
      return "\thelper = \"\(escaped)\"\n"
    }
    try home.write("[\(section)]\n" + lines.joined(), to: ".gitconfig")
  }

  @Test func listSaysWhatIsSetUp() throws {
    let link = "\(home.bin)/docker-credential-prefs"
    #expect(
      try listed("docker")
        == Helper(helper: "docker", state: "missing", link: link, inPath: false, configuredBy: []))
    home.program.run("helpers", "install")
    let docker = try home.write(
      #"{"credHelpers": {"registry.example.com": "prefs"}}"#, to: ".docker/config.json")
    try configureGit("prefs", section: #"credential "https://example.com""#)
    #expect(
      try listed("docker")
        == Helper(
          helper: "docker", state: "installed", link: link, inPath: true, configuredBy: [docker],
          works: true))
    #expect(try listed("git").configuredBy == ["credential.https://example.com.helper"])
    let text = home.program.run("helpers", "list")
    #expect(
      text.output == """
        docker\tinstalled\t\(link)\t\(docker)
        git\tinstalled\t\(home.bin)/git-credential-prefs\tcredential.https://example.com.helper

        """)
    #expect(text.messages.isEmpty)
  }

  @Test func listIsATableOnATerminal() {
    let lines = home.program.run("helpers", "list", columns: 200).output.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines.first?.hasPrefix("HELPER  STATE") == true)
    #expect(
      lines.last?.hasPrefix("git     not installed  \(home.bin)/git-credential-prefs") == true)
  }

  @Test(arguments: [
    "prefs", "!/opt/my\\ prefs/prefs keychain git-credential", "/opt/bin/git-credential-prefs",
    "!prefs keychain git-credential", "!/opt/prefs keychain git-credential",
    "/opt/prefs keychain git-credential", "!'/my opt/prefs' keychain git-credential",
    "!git-credential-prefs", "!KEYCHAIN_VAULT=/v prefs keychain git-credential",
    "prefs --store vault",
  ])
  func settingOfGitNamesTheProgram(value: String) throws {
    try configureGit(value)
    #expect(try listed("git").configuredBy == ["credential.helper"])
  }

  @Test(arguments: [
    "store", "!other keychain git-credential", "", "!prefs keychain get",
    "/opt/git-credential-other", "prefsy",
  ])
  func settingOfGitNamesAnother(value: String) throws {
    try configureGit(value)
    #expect(try listed("git").configuredBy.isEmpty)
  }

  @Test func emptySettingOfGitDropsThoseBeforeIt() throws {
    try configureGit("prefs", "")
    #expect(try listed("git").configuredBy.isEmpty)
  }

  @Test(arguments: [
    ("/nowhere/git-credential-prefs", "is not there or cannot be run"),
    ("OTHER/git-credential-prefs", "is another program"),
    ("!OTHER/prefs keychain git-credential", "is another program"),
    ("!prefs keychain git-credential", "is not there or cannot be run"),
  ])
  func settingOfGitIsNotBelieved(value: String, fault: String) throws {
    let other = try home.makeFolder("other")
    for name in ["prefs", "git-credential-prefs"] {
      try home.write("#!/bin/sh\n", to: "other/\(name)", mode: 0o755)
    }
    try configureGit(value.replacingOccurrences(of: "OTHER", with: other))
    var program = home.program
    program.environment["PATH"] = "/usr/bin:/bin"
    let git = try listed("git", program)
    #expect(git.configuredBy == ["credential.helper"] && git.unusable == ["credential.helper"])
    let text = program.run("helpers", "list")
    #expect(text.code == 0)
    #expect(text.saidInOneLine.hasPrefix("prefs: hint: ") && text.saidInOneLine.contains(fault))
  }

  @Test(arguments: ["LINKS/git-credential-prefs", "PROGRAM keychain git-credential"])
  func settingOfGitThatWorksNeedsNoLinkInPath(value: String) throws {
    let links = try home.makeFolder("links")
    home.program.run("helpers", "install", "git", "--folder", links)
    try configureGit(
      value.replacingOccurrences(of: "LINKS", with: links)
        .replacingOccurrences(of: "PROGRAM", with: "\(home.bin)/prefs"))
    let git = try listed("git")
    #expect(git.configuredBy == ["credential.helper"] && git.unusable == nil)
    let text = home.program.run("helpers", "list")
    #expect(text.output.contains("git\tconfigured, needs no link\t") && text.messages.isEmpty)
  }

  @Test(arguments: [
    #"{"credsStore": "prefs",}"#, #"{"credsStore": "prefs""#, #"["prefs"]"#, #"{ "credsStore": "#,
    "garbage",
  ])
  func configurationOfDockerThatIsNotJSONIsReported(text: String) throws {
    home.program.run("helpers", "install")
    let path = try home.write(text, to: ".docker/config.json")
    #expect(try listed("docker").unusable == [path])
    #expect(
      home.program.run("helpers", "list").saidInOneLine.contains(
        "'\(path)' is not JSON that docker can read"))
  }

  @Test(arguments: [#"{"credsStore": "prefs"}"#, "", "\n"])
  func configurationOfDockerIsRead(text: String) throws {
    home.program.run("helpers", "install")
    try home.write(text, to: ".docker/config.json")
    #expect(try listed("docker").unusable == nil)
    #expect(home.program.run("helpers", "list").messages.isEmpty)
  }

  @Test func settingOfDockerNextToAWrongOneIsFound() throws {
    let path = try home.write(
      #"{"credHelpers": {"r": "prefs", "s": 1}}"#, to: ".docker/config.json")
    #expect(try listed("docker").configuredBy == [path])
  }

  @Test func helperThatIsConfiguredAndMissingIsPointedOut() throws {
    try home.write(#"{"credsStore": "prefs"}"#, to: ".docker/config.json")
    #expect(
      home.program.run("helpers", "list").saidInOneLine.contains(
        "prefs: hint: docker is told to use this program, but finds no link that leads to it: "
          + "run 'prefs keychain helpers install docker'"))
  }

  @Test(arguments: [
    (".config/containers/registries.conf", "credential-helpers = [\"other\", \"prefs\"]\n"),
    (
      ".config/containers/registries.conf",
      "# [x]\n  credential-helpers=[ # a\n 'other',\n  'prefs'\n]\n"
    ),
    ("config/containers/auth.json", #"{"credHelpers": {"r": "prefs"}}"#),
    ("runtime/containers/auth.json", #"{"credHelpers": {"r": "prefs"}}"#),
  ])
  func settingOfPodmanIsUnderstood(file: String, text: String) throws {
    var program = home.program
    program.environment["XDG_CONFIG_HOME"] = home.file("config")
    program.environment["XDG_RUNTIME_DIR"] = home.file("runtime")
    let path = try home.write(text, to: file)
    #expect(try listed("docker", program).configuredBy == [path])
    try home.write(text.replacingOccurrences(of: "prefs", with: "prefix"), to: file)
    #expect(try listed("docker", program).configuredBy.isEmpty)
  }

  @Test(arguments: [
    "[[registry]]\nlocation = \"r\"\ncredential-helpers = [\"prefs\"]\n",
    "credential-helpers = [] # \"prefs\"\n",
    "unqualified-search-registries = [\"prefs\"]\n",
    "short-name-mode = \"credential-helpers\"\nother = [\"prefs\"]\n",
  ])
  func settingIgnoredByPodmanIsIgnored(text: String) throws {
    try home.write(text, to: ".config/containers/registries.conf")
    #expect(try listed("docker").configuredBy.isEmpty)
  }

  @Test(arguments: ["file", "folder", "dangling"])
  func unrunnableFileHidesNoLink(kind: String) throws {
    let later = try home.makeFolder("later")
    var program = home.program
    program.environment["PATH"]? += ":\(later)"
    program.run("helpers", "install", "docker", "--folder", later)
    let name = "bin/docker-credential-prefs"
    switch kind {
    case "file": try home.write("mine", to: name)
    case "folder": try home.makeFolder(name)
    default: try home.link(name, to: "/nowhere/else")
    }
    let docker = try listed("docker", program)
    #expect(docker.state == "installed" && docker.inPath)
    #expect(docker.link == "\(later)/docker-credential-prefs")
  }

  @Test func linkWhoseProgramMovedIsReplaced() throws {
    try home.link("bin/docker-credential-prefs", to: home.file("first/prefs"))
    #expect(try listed("docker").state == "broken")
    #expect(home.program.run("helpers", "install", "docker").code == 0)
    #expect(try listed("docker").state == "installed")
  }
}
