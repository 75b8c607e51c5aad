// What the command answers to docker and its relatives, which compare some of the texts.

import CommandTesting
import Foundation
import KeychainCredentials
import Testing

@testable import KeychainCommands

@Suite("Requests of docker")
struct DockerCredentialCommandTests {
  /// What docker sends and gets for a login.
  private struct Login: Codable, Equatable {
    var ServerURL: String
    var Username = "alice"
    var Secret = "hunter2"

    var request: [UInt8] { get throws { Array(try JSONEncoder().encode(self)) + [0x0A] } }
  }

  private static let absent = "credentials not found in native keychain\n"

  private let store = InMemoryCredentialStore()

  private var program: TestedProgram { TestedProgram(store: store) }

  private func call(_ operation: String, _ given: String = "", _ options: String...) -> CommandRun {
    program.run(["docker-credential", operation] + options, input: Array(given.utf8))
  }

  private func keep(_ login: Login, _ options: String...) throws -> CommandRun {
    program.run(["docker-credential", "store"] + options, input: try login.request)
  }

  private func list() throws -> [String: String] { try call("list", "unused").answer() }

  // MARK: - What is asked for

  @Test(arguments: [
    ("get", "r", absent), ("get", "*", absent), ("get", " \n", "no credentials server URL\n"),
    ("erase", "", "no credentials server URL\n"),
    ("store", #"{"ServerURL":"","Username":"a","Secret":"s"}"#, "no credentials server URL\n"),
    ("store", #"{"ServerURL":"r","Username":"","Secret":"s"}"#, "no credentials username\n"),
  ])
  func textsThatClientsCompare(operation: String, given: String, answer: String) throws {
    let refused = call(operation, given)
    #expect(refused.code == 1 && refused.output == answer)
    #expect(refused.messages.isEmpty == (answer == Self.absent))
    #expect(try store.search(CredentialQuery()).credentials.isEmpty)
  }

  @Test func loginGoesInAndOut() throws {
    let login = Login(ServerURL: "r:5000", Username: "<token>", Secret: "a\"b\\c\nd\té😀/")
    let stored = try keep(login)
    #expect(stored.code == 0 && stored.output.isEmpty)
    #expect(try call("get", "r:5000\n").answer() == login)
    #expect(try list() == ["r:5000": "<token>"])
    let erased = call("erase", "https://r:5000")
    #expect(erased.code == 0 && erased.output.isEmpty)
    #expect(call("get", "r:5000").output == Self.absent)
  }

  @Test(arguments: ["r", "http://r", "https://r"])
  func erasingAnAbsentLoginSucceeds(server: String) {
    for _ in 1...2 {
      let erased = call("erase", server)
      #expect(erased.code == 0 && erased.output.isEmpty && erased.messages.isEmpty)
    }
  }

  @Test func hubHasItsName() throws {
    let hub = Login(ServerURL: "https://index.docker.io/v1/")
    #expect(try keep(hub).code == 0)
    #expect(try call("get", hub.ServerURL).answer() == hub)
    #expect(call("get", "index.docker.io").output == Self.absent)
    #expect(try list() == [hub.ServerURL: "alice"])
  }

  @Test func groupHasItsOwnLogins() throws {
    let login = Login(ServerURL: "r")
    #expect(try keep(login, "--access-group", "team").code == 0)
    #expect(call("get", "r").output == Self.absent)
    #expect(try call("get", "r", "-g", "team").answer() == login)
  }

  @Test func versionNeedsNoStore() {
    store.fail(with: KeychainError(.inputOutput, "the disk is full"))
    let version = KeychainCommandLine.version
    #expect(call("version").output == "docker-credential-prefs (prephirences) \(version)\n")
  }

  @Test(arguments: [["login"], [], ["get", "--passphrase-fd", "0"], ["get", "--unknown"]])
  func wrongUsageHasItsCode(words: [String]) {
    let refused = program.run(["docker-credential"] + words)
    #expect(refused.code == 64 && refused.output.isEmpty)
    #expect(refused.messages.hasPrefix("prefs: error: "))
  }

  // MARK: - What is no login

  @Test func passwordOfGitIsNoLogin() throws {
    program.run("set", "alice", "--server", "r", "--protocol", "https", input: "git")
    program.run("set", "alice", "--server", "r", input: "own")
    for server in ["r", "https://r"] { #expect(call("get", server).output == Self.absent) }
    #expect(try list().isEmpty)
    #expect(call("erase", "r").code == 0)
    #expect(try store.search(CredentialQuery()).credentials.count == 2)
    let refused = try keep(Login(ServerURL: "r"))
    #expect(refused.code == 1 && refused.output.contains("is not the login of a registry"))
    #expect(program.run("get", "alice", "--server", "r", "--protocol", "").output == "own")
  }

  @Test(arguments: [([], true), (["--protocol", "https"], false), (["--port", "5000"], false)])
  func passwordThatClientsDoNotGetIsReported(more: [String], isLogin: Bool) {
    let stored = program.run(
      ["set", "robot", "--server", "r"] + more + ["--attribute", "client=docker"],
      input: Array("p".utf8))
    #expect(stored.code == 0)
    #expect(stored.messages.contains("clients of docker do not get it") != isLogin)
  }

  @Test(arguments: ["http://r.com", "http://r.com/", "HTTP://r.com"])
  func loginForHTTPSIsNeitherGivenNorErasedForHTTP(server: String) throws {
    let login = Login(ServerURL: "r.com")
    #expect(try keep(login).code == 0)
    let refused = call("get", server)
    #expect(refused.code == 1 && refused.output == Self.absent)
    #expect(call("erase", server).code == 0)
    #expect(try call("get", "https://r.com/").answer(as: Login.self).Secret == login.Secret)
  }

  @Test(arguments: ["*", "%", "r*", "../x", "r' OR '1", "r?", "[r]"])
  func patternIsOnlyAName(server: String) throws {
    #expect(try keep(Login(ServerURL: "r")).code == 0)
    let refused = call("get", server)
    #expect(refused.code == 1 && refused.output == Self.absent)
  }

  // MARK: - What is refused

  @Test(arguments: [
    #"{"Secret":"hunter2""#, "{\"Secret\":\"hunter2\n\"}", #"{"Secret":["hunter2"]}"#,
  ])
  func secretIsNeverShownInAnError(given: String) {
    let failed = call("store", given)
    #expect(failed.code == 1)
    #expect(failed.output.hasPrefix("the input is not the expected JSON"))
    #expect(!failed.output.contains("hunter2") && !failed.messages.contains("hunter2"))
  }

  @Test(arguments: [
    Array("a\nb".utf8), Array("a\rb".utf8), Array("a\0b".utf8), Array("\u{1B}[2Jx".utf8),
    Array(repeating: UInt8(ascii: "x"), count: 5000), Array("a\tb".utf8),
    [0x78, 0xFF, 0xFE, 0x78],
  ])
  func hostileNameIsRefused(server: [UInt8]) throws {
    for operation in ["get", "erase"] {
      let failed = program.run(["docker-credential", operation], input: server)
      #expect(failed.code == 1 && failed.output.hasPrefix("the name of the registry"))
      #expect(!failed.output.contains("\u{1B}") && !failed.messages.contains("\u{1B}"))
    }
    if let text = String(validating: server, as: UTF8.self) {
      #expect(try keep(Login(ServerURL: text)).code == 1)
    }
    #expect(try list().isEmpty)
  }

  @Test func requestThatIsTooLongIsRefused() {
    let request = [UInt8](repeating: UInt8(ascii: " "), count: 2 << 20)
    let failed = program.run(["docker-credential", "store"], input: request)
    #expect(failed.code == 1)
    #expect(failed.output == "the request on standard input is longer than 1 MiB\n")
  }

  // MARK: - What fails

  @Test(arguments: [("get", "r"), ("list", ""), ("erase", "r"), ("store", nil)])
  func failureIsNotAbsence(operation: String, given: String?) throws {
    #expect(try keep(Login(ServerURL: "r")).code == 0)
    store.fail(with: KeychainError(.inputOutput, "the disk is broken", recovery: "replace it"))
    let request = try given.map { Array($0.utf8) } ?? Login(ServerURL: "r").request
    var program = program
    let words = ["docker-credential", operation]
    let failed = program.run(words, input: request)
    #expect(failed.code == 1 && failed.output == "the disk is broken\n")
    #expect(
      failed.messages == "prefs: error: the disk is broken\nprefs: hint: replace it\n")
    // A client passes no options on.
    program.environment["KEYCHAIN_QUIET"] = "1"
    #expect(program.run(words, input: request).messages == "prefs: error: the disk is broken\n")
    program.environment["KEYCHAIN_QUIET"] = ""
    #expect(program.run(words, input: request).messages == failed.messages)
  }

  @Test(arguments: [("get", "the name of a registry"), ("store", "a JSON object")])
  func terminalShowsWhatIsAwaited(operation: String, wanted: String) {
    var program = program
    program.person = ScriptedPerson()
    let waiting = program.run("docker-credential", operation)
    #expect(waiting.code == 1)
    #expect(
      waiting.messages.hasPrefix(
        "prefs: waiting for \(wanted), which a client sends; ^D ends it\n"))
  }
}
