import CommandTesting
import KeychainCredentials
import Testing

@testable import KeychainCommands

@Suite("Commands for credentials, on a store in memory")
struct CredentialCommandTests {
  private let program = TestedProgram()

  @Test func secretIsStoredAndRead() {
    #expect(program.run("set", "alice", input: "s3cret\n").code == 0)
    let read = program.run("get", "alice")
    #expect(read.code == 0 && read.output == "s3cret\n" && read.messages.isEmpty)
  }

  @Test func newlineFollowsOnATerminal() {
    program.run("set", "alice", input: "s3cret")
    #expect(program.run("get", "alice", columns: 80).output == "s3cret\n")
    #expect(program.run("get", "alice").output == "s3cret")
  }

  @Test func absentCredentialIsSaid() {
    let read = program.run("get", "bob")
    #expect(read.code == 44)
    #expect(read.messages.hasPrefix("prefs: error: "))
    #expect(read.output.isEmpty)
  }

  @Test func personIsAskedTwice() {
    let person = ScriptedPerson("s3cret", "s3cret")
    var program = program
    program.person = person
    #expect(program.run("set", "alice").code == 0)
    #expect(
      person.questions == [
        "secret for alice (service default): ",
        "the same secret for alice (service default) again: ",
      ])
    #expect(program.run("get", "alice").output == "s3cret")
  }
}
