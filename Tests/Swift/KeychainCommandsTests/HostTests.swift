import ArgumentParser
import KeychainCredentials
import KeychainVault
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("Programs that mount the commands")
struct HostTests {
  private struct Host: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mytool", subcommands: [Other.self, KeychainCommand.self])
  }

  private struct DeepHost: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "deep", subcommands: [Other.self, Auth.self])
  }

  private struct Auth: ParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [KeychainCommand.self])
  }

  private struct Other: ParsableCommand {}

  @Test func anyProgramCanMountTheCommands() throws {
    #expect(try Host.parseAsRoot(["keychain", "get", "a"]) is GetCommand)
    let context = KeychainCommandContext(Host.self, defaultService: "com.example")
    #expect(context.hostName == "mytool")
    #expect(context.commandPath == "mytool keychain")
    #expect(context.defaultService == "com.example")
    KeychainCommandContext.$current.withValue(context) {
      #expect(KeychainError.Recovery.unlock.commandText == "run 'mytool keychain unlock'")
    }
  }

  @Test func theCommandsAreFoundBelowOthers() {
    #expect(KeychainCommandContext(DeepHost.self).commandPath == "deep auth keychain")
  }

  @Test func namesComeFromTheProgramWithoutAHost() {
    let context = KeychainCommandContext()
    #expect(context.commandPath == "\(context.hostName) keychain")
    #expect(!context.hostName.contains("/"))
  }

  @Test(arguments: [([], "/host/vault"), (["--vault", "/given/vault"], "/given/vault")])
  func hostVaultIsUsedUnlessNamed(arguments: [String], path: String) throws {
    let context = KeychainCommandContext(Host.self, defaultVault: "/host/vault")
    let session = try Session(
      CommonOptions.parse(arguments), stores: nil, context: context, asking: Asking(),
      host: CommandHost())
    #expect(try session.vault.configuration.path == path)
  }

  /// If a new command's examples named `prefs`, every host would show that name.
  ///
  /// Help is made once in a process, for the program that asks first.
  @Test func helpNamesTheHost() async {
    await #expect(processExitsWith: .success) {
      for command in KeychainCommand.allCommands {
        #expect(!command.helpMessage(includeHidden: true).contains("prefs keychain"), "\(command)")
      }
    }
  }
}

extension ParsableCommand {
  fileprivate static var allCommands: [any ParsableCommand.Type] {
    [self] + configuration.subcommands.flatMap { $0.allCommands }
  }
}
