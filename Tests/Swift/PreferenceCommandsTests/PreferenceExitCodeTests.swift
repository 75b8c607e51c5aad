import Prephirences
import PrephirencesCommandLine
import Testing

@testable import PreferenceCommands

@Suite("Exit codes of preferences")
struct PreferenceExitCodeTests {
  /// The documented exit codes, repeated here so that a change of the table is noticed.
  private static let promised: [(PreferencesError.Code, Int32)] = [
    (.notFound, 44), (.unknownKey, 44), (.invalidName, 64), (.unstorable, 64),
    (.damaged, 65), (.typeMismatch, 65), (.noPlace, 69), (.forked, 70), (.inputOutput, 74),
    (.timedOut, 75), (.conflict, 75), (.readOnly, 79), (.insecure, 79), (.unsupportedFormat, 79),
    (.invalidAddress, 64), (.foreignStore, 65), (.unreachable, 69), (.locked, 77),
    (.wrongPassword, 78), (.accessDenied, 79), (.overQuota, 79), (.certificate, 79),
    (.outcomeUnknown, 81),
  ]

  @Test(arguments: promised)
  func failureHasItsExitCode(_ code: PreferencesError.Code, _ number: Int32) throws {
    let error: any Error = PreferencesError(code, "what failed")
    let failure = try #require(CommandHost.current.failure(of: error))
    #expect(failure.exitCode == number && failure.message == "what failed")
    #expect(ExitCodes.all.contains { $0.code == number })
  }

  @Test func contextIsThatOfTheProgram() {
    let context = PreferenceCommandContext(hostName: "mytool", defaultDomain: "com.example")
    #expect(context.commandPath == "mytool")
    let domain = { PreferenceCommandContext.current.defaultDomain }
    #expect(context.asCurrent(domain) == "com.example")
    #expect(domain() == nil)
  }
}
