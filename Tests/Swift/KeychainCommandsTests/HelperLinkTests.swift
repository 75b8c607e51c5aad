// Links by which clients find the program: made and removed, and never foreign ones.

import CommandTesting
import Foundation
import Testing

@testable import KeychainCommands

@Suite("Links of helpers")
struct HelperLinkTests {
  private static let docker = "docker-credential-prefs"
  private static let git = "git-credential-prefs"

  private let home: ClientHome

  init() throws { home = try ClientHome() }

  private func run(_ words: String...) -> CommandRun { home.program.run(["helpers"] + words) }

  @Test func linksAreNextToTheProgram() throws {
    let made = run("install")
    #expect(made.code == 0)
    #expect(home.target(of: "bin/\(Self.docker)") == "prefs")
    #expect(home.target(of: "bin/\(Self.git)") == "prefs")
    #expect(made.output.contains("credential.helper prefs\n"))
    #expect(made.output.contains("{ \"credsStore\": \"prefs\" }"))
    #expect(made.output.contains("--netrc-file @netrc@"))
    #expect(
      made.messages
        == "prefs: \(home.bin)/\(Self.docker) leads to \(home.bin)/prefs\n"
        + "prefs: \(home.bin)/\(Self.git) leads to \(home.bin)/prefs\n")
  }

  @Test(arguments: ["docker", "podman", "skopeo", "buildah", "helm"])
  func oneHelperIsInstalledAndRemoved(name: String) throws {
    let made = run("install", name, "--folder", try home.makeFolder("links"))
    #expect(made.code == 0)
    #expect(!made.output.contains("git") && !made.output.contains("SwiftPM"))
    #expect(try home.names(in: "links") == [Self.docker])
    let other = run("remove", "git", "--folder", home.file("links"))
    #expect(other.code == 0)
    #expect(other.messages == "prefs: \(home.file("links"))/\(Self.git) is not there\n")
    let removed = run("remove", name, "--folder", home.file("links"))
    #expect(removed.messages == "prefs: removed \(home.file("links"))/\(Self.docker)\n")
    #expect(try home.names(in: "links").isEmpty)
  }

  @Test func installingAgainChangesNothing() throws {
    let folder = try home.makeFolder("links")
    #expect(run("install", "--folder", folder).code == 0)
    let again = run("install", "--folder", folder + "/")
    #expect(again.code == 0)
    #expect(again.messages.contains("\(folder)/\(Self.docker) leads already to \(home.bin)/prefs"))
    #expect(try home.names(in: "links") == [Self.docker, Self.git])
  }

  @Test(arguments: ["file", "link", "dangling", "folder"], ["install", "remove"])
  func foreignFilesStay(kind: String, command: String) throws {
    let name = "bin/\(Self.git)"
    switch kind {
    case "file": try home.write("mine", to: name)
    case "link": try home.link(name, to: "/bin/true")
    case "dangling": try home.link(name, to: "/nowhere/else")
    default: try home.makeFolder(name)
    }
    let before = try FileManager.default.attributesOfItem(atPath: home.file(name))
    let refused = run(command, "--folder", home.bin)
    #expect(refused.code == 79)
    #expect(refused.output.isEmpty)
    #expect(
      refused.messages.hasPrefix("prefs: error: '\(home.file(name))' is not a link to this program")
    )
    let after = try FileManager.default.attributesOfItem(atPath: home.file(name))
    for key in [FileAttributeKey.systemFileNumber, .type, .modificationDate] {
      #expect(after[key] as? NSObject == before[key] as? NSObject)
    }
    // Nothing was done before the refusal.
    #expect(try home.names(in: "bin") == [Self.git, "prefs"])
  }

  @Test func leftoverOfAStoppedInstallationIsHarmless() throws {
    try home.link("bin/\(Self.docker)", to: "/nowhere/prefs")
    try home.write("left", to: "bin/\(Self.docker).new")
    #expect(run("install", "docker").code == 0)
    #expect(home.target(of: "bin/\(Self.docker)") == "prefs")
    #expect(try home.names(in: "bin") == [Self.docker, "\(Self.docker).new", "prefs"])
  }

  @Test func folderIsMade() {
    let folder = home.file("new/links")
    let made = run("install", "--folder", folder)
    #expect(made.code == 0)
    #expect(home.target(of: "new/links/\(Self.docker)") == "\(home.bin)/prefs")
    #expect(made.messages.contains("prefs: \(folder) is not in PATH, so clients do not find"))
    #expect(made.messages.contains("prefs: hint: add it to PATH, or choose another folder"))
  }

  @Test func earlierProgramOfTheNameIsReported() throws {
    try home.write("#!/bin/sh\n", to: "bin/\(Self.docker)", mode: 0o755)
    var program = home.program
    let later = try home.makeFolder("later")
    program.environment["PATH"]? += ":\(later)"
    let made = program.run("helpers", "install", "docker", "--folder", later)
    #expect(made.code == 0)
    #expect(made.messages.contains("\(home.bin)/\(Self.docker) comes earlier in PATH"))
  }

  @Test func folderThatOthersCanWriteIsReported() throws {
    #expect(!run("install").messages.contains("other users"))
    try home.setMode(0o777, of: "bin")
    let made = run("install")
    #expect(made.code == 0)
    #expect(made.messages.contains("prefs: other users can write to \(home.bin), and replace"))
    #expect(made.messages.contains("prefs: hint: change its mode or owner"))
  }

  @Test func folderThatCannotBePrintedIsRefused() {
    let refused = run("install", "--folder", home.file("a\nb"))
    #expect(refused.code == 64)
    #expect(
      refused.messages == """
        prefs: error: the name of the folder has control characters
        prefs: hint: choose another one with --folder

        """)
    #expect(!home.exists("a\nb"))
  }

  @Test func wholePathOfGitsHelperIsPrinted() throws {
    let folder = try home.makeFolder("links")
    let made = run("install", "git", "--folder", folder)
    #expect(
      made.output.contains("  git config --global credential.helper \(folder)/\(Self.git)\n"))
  }

  @Test(arguments: [["install", "npm"], [], ["install", "--folder"], ["list", "docker"]])
  func wrongUsageHasItsCode(words: [String]) {
    let refused = home.program.run(["helpers"] + words)
    #expect(refused.code == 64)
    #expect(refused.output.isEmpty && refused.messages.hasPrefix("prefs: error: "))
  }

  @Test func quietSaysNothingButErrors() {
    #expect(run("install", "--quiet").messages.isEmpty)
    var program = home.program
    program.environment["KEYCHAIN_QUIET"] = "1"
    #expect(program.run("helpers", "remove").messages.isEmpty)
  }
}
