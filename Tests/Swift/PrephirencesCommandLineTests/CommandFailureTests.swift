import ArgumentParser
import Testing

@testable import PrephirencesCommandLine

@Suite("Failures of commands")
struct CommandFailureTests {
  private struct Lost: CommandFailure {
    let exitCode = ExitCodes.notFound
    let message = "it is lost"
    let hint: String? = "look again"
  }

  /// An error of a library that knows no commands.
  private struct Wrapped: Error {}

  private struct Unknown: Error {}

  private struct Leaf: PackageCommand {
    static let manual = CommonManual(mainPage: nil, environment: [], files: [], exitCodes: [])
  }

  private static let host = CommandHost(
    hostName: "mytool", failureBehind: { $0 is Wrapped ? Lost() : nil })

  @Test func eachErrorHasItsFailure() {
    #expect(Self.host.failure(of: Lost()) is Lost)
    #expect(Self.host.failure(of: Wrapped()) is Lost)
    #expect(Self.host.failure(of: CancellationError())?.exitCode == 130)
    #expect(Self.host.failure(of: Unknown()) == nil)
    #expect(Self.host.failure(of: ValidationError("no")) == nil)
  }

  // Otherwise the argument parser of a host would add a message.
  @Test func aFailureThrowsOnlyItsExitCode() {
    #expect(throws: ExitCode(44)) { try Leaf().reportFailures(as: "mytool") { throw Lost() } }
    #expect(throws: Unknown.self) { try Leaf().reportFailures(as: "mytool") { throw Unknown() } }
  }

  @Test func failureOfARunEndsWithItsCode() {
    struct Root: ParsableCommand {
      func run() throws { throw Lost() }
    }
    struct Behind: ParsableCommand {
      func run() throws { throw Wrapped() }
    }
    for root in [Root.self, Behind.self] as [any ParsableCommand.Type] {
      #expect(Invocation(root: root, arguments: [], host: Self.host).run() == 44)
    }
  }

  @Test func everyExitCodeIsExplainedOnce() {
    let codes = ExitCodes.all.map(\.code)
    #expect(codes == codes.sorted() && Set(codes).count == codes.count)
  }
}
