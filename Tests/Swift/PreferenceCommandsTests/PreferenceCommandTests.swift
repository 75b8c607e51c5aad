import CommandTesting
import PreferencesCore
import Testing

@testable import PreferenceCommands

@Suite("Commands for preferences, on domains in memory")
struct PreferenceCommandTests {
  private let program = TestedPreferences()

  @Test func valueIsWrittenAndRead() {
    #expect(program.run("write", "port", "8080", "--type", "int", "--domain", "web").code == 0)
    #expect(program.domains.value(forKey: "port", in: "web") == .integer(8080))
    #expect(program.run("read", "port", "--domain", "web").output == "8080\n")
  }

  @Test func absentKeyIsReported() {
    program.run("write", "port", "8080", "--type", "int", "--domain", "web")
    let read = program.run("read", "prot", "--domain", "web")
    #expect(read.code == 44 && read.output.isEmpty)
    #expect(read.messages.contains("did you mean 'port'"))
  }
}
