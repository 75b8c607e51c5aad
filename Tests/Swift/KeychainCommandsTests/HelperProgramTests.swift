import ArgumentParser
import Testing

@testable import KeychainCommands

@Suite("Programs that are called by a helper's name")
struct HelperProgramTests {
  private struct DeepHost: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "deep", subcommands: [Other.self, Auth.self])
  }

  private struct Auth: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "auth", subcommands: [KeychainCommand.self])
  }

  private func arguments(
    _ texts: [String], _ root: any ParsableCommand.Type = Host.self
  ) -> [String] {
    KeychainCommandLine.arguments(texts, root, KeychainCommandContext(root))
  }

  @Test(arguments: [
    "docker-credential-mytool", "/usr/bin/docker-credential-mytool", "./docker-credential-mytool",
    "-x/docker-credential-mytool/",
  ])
  func aLinkRunsTheCommandOfItsName(program: String) {
    #expect(arguments([program, "get"]) == ["keychain", "docker-credential", "get"])
  }

  @Test func eachHelperHasItsCommand() {
    for helper in HelperProgram.allCases {
      let name = helper.linkName(of: "mytool")
      #expect(arguments([name, "a", "b"]) == ["keychain", helper.command, "a", "b"])
    }
  }

  @Test func theCommandIsFoundWhereverItIsMounted() {
    let words = ["auth", "keychain", "git-credential", "get"]
    #expect(arguments(["git-credential-deep", "get"], DeepHost.self) == words)
    #expect(
      arguments(["git-credential-keychain", "get"], KeychainCommand.self)
        == ["git-credential", "get"])
  }

  @Test(arguments: [
    "mytool", "", "/", "docker-credential-other", "docker-credential-", "docker-credential-mytool2",
    "docker-credential-mytool/x", "docker-credential-MYTOOL", "xdocker-credential-mytool",
    "git", "docker-credential-mytool.old", "docker-credential",
  ])
  func everyOtherNameIsTheProgramItself(program: String) {
    #expect(arguments([program, "get"]) == ["get"])
  }

  @Test func aProgramWithoutAnyNameIsItself() {
    #expect(arguments([]) == [])
  }

  @Test func aRootWithoutTheCommandsIsItself() {
    #expect(arguments(["git-credential-other", "get"], Other.self) == ["get"])
  }
}
