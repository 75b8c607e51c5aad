import ArgumentParser
import Testing

@testable import PrephirencesCommandLine

@Suite("Where a host mounts commands")
struct CommandWordsTests {
  private struct Host: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mytool", subcommands: [Other.self, Group.self])
  }

  private struct Group: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "settings", subcommands: [Mounted.self])
  }

  private struct Other: ParsableCommand {}

  private struct Mounted: PackageCommand {
    static let manual = CommonManual(mainPage: nil, environment: [], files: [], exitCodes: [])

    /// Has examples with the host's name, and must not be made before that is known.
    static var configuration: CommandConfiguration {
      Issue.record("the definition is looked at")
      return CommandConfiguration()
    }
  }

  @Test func wordsLeadToTheMountedCommand() {
    #expect(Host.words { $0 == Mounted.self } == ["mytool", "settings"])
    #expect(Group.words { $0 == Mounted.self } == ["settings"])
    #expect(Host.words { $0 == Host.self } == nil)
  }
}
