import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("The names that other programs give to commands")
struct OtherCommandNameTests {
  @Test(arguments: [
    ("remove", ["delete"]), ("uninstall", ["keychain helpers remove"]),
    ("add", ["set", "keychain slots add"]),
    ("create", ["set"]), ("new", ["set"]), ("put", ["set"]), ("save", ["set"]), ("store", ["set"]),
    ("rotate", ["set"]), ("del", ["delete"]), ("erase", ["delete"]),
    ("cat", ["get"]),
    ("show-secret", ["get"]), ("find", ["list"]), ("search", ["list"]), ("gte", ["get"]),
    ("slots delete", ["remove"]), ("slots new", ["add"]), ("recovery new", ["create"]),
    ("slots read", []),
  ])
  func theWordsOfOtherProgramsMeanCommands(line: String, meant: [String]) throws {
    let path = CommandPath(KeychainCommand.self, line.split(separator: " ").map { String($0) })
    #expect(path.commandsMeant(by: try #require(path.unknownWord)) == meant)
  }
}
