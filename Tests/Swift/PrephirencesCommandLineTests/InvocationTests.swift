import ArgumentParser
import Testing

@testable import PrephirencesCommandLine

@Suite("A program's run")
struct InvocationTests {
  private struct SyncHost: ParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [Later.self])
  }

  private struct SyncGroup: ParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [GroupedLater.self])
  }

  private struct GroupedLater: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "later", subcommands: [Later.self])
  }

  private struct AsyncHost: AsyncParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [Later.self])
  }

  private struct Later: AsyncParsableCommand {
    func run() async throws {}
  }

  // Otherwise the parser would show help instead of running it, and report success.
  @Test func anAsynchronousCommandFailsBelowASynchronousRoot() async {
    func invocation(_ root: any ParsableCommand.Type) -> Invocation {
      Invocation(root: root, arguments: ["later"], host: CommandHost(root: root))
    }
    #expect(invocation(SyncHost.self).run() == ExitCodes.internalFailure)
    #expect(invocation(SyncGroup.self).run() == ExitCodes.usage)
    #expect(await invocation(AsyncHost.self).runAsync() == ExitCodes.success)
  }
}
