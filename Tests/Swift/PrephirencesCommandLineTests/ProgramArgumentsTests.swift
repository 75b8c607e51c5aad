import CPrephirencesSystem
import Testing

@testable import PrephirencesCommandLine

@Suite("The arguments of the program")
struct ProgramArgumentsTests {
  @Test func theyAreThoseOfTheProgram() {
    #expect(ccommandline_argument_count() == CommandLine.argc)
    #expect(ProgramArguments.texts == CommandLine.arguments)
    #expect(ccommandline_argument(-1) == nil)
    #expect(ccommandline_argument(CommandLine.argc) == nil)
  }

  /// An unreadable command line must not be treated as an empty one.
  @Test func missingCommandLineIsNotEmpty() throws {
    let error = try #require(throws: CommandLineError.self) { try ProgramArguments.check([]) }
    #expect(error.exitCode == 70)
    #expect(error.message == "the arguments cannot be read; nothing was done")
  }
}
