// What the command answers to requests as git sends them, and how it says that it cannot.

import CommandTesting
import KeychainCredentials
import Testing

@testable import KeychainCommands

@Suite("Requests of git")
struct GitCredentialCommandTests {
  private let store = InMemoryCredentialStore()

  private var program: TestedProgram { TestedProgram(store: store) }

  private func exchange(_ operation: String, _ lines: String...) -> CommandRun {
    exchange([operation], lines)
  }

  private func exchange(
    _ words: [String], _ lines: [String], _ environment: [String: String] = [:]
  ) -> CommandRun {
    var program = program
    program.environment = environment
    let request = lines.map { $0 + "\n" }.joined()
    return program.run(["git-credential"] + words, input: Array(request.utf8))
  }

  /// Stores an internet password.
  private func set(_ account: String, _ secret: String, _ options: String...) {
    set(account, secret, options)
  }

  private func set(_ account: String, _ secret: String, _ options: [String]) {
    #expect(program.run(["set"] + options + ["--", account], input: Array(secret.utf8)).code == 0)
  }

  private var itemCount: Int {
    get throws { try store.search(CredentialQuery()).credentials.count }
  }

  @Test func requestsOfNewerGit() throws {
    let server = ["protocol=https", "host=git.example.com"]
    let capable = ["capability[]=authtype", "capability[]=state"] + server
    let offered = capable + ["wwwauth[]=Bearer realm=\"r\"", "wwwauth[]=Basic realm=\"r\""]
    let authenticated = ["capability[]=authtype", "authtype=Bearer"] + server
    #expect(exchange(["get"], offered).output.isEmpty)
    #expect(exchange(["store"], authenticated + ["credential=TOK"]).code == 0)
    #expect(
      exchange(["get"], offered).output
        == "capability[]=authtype\nauthtype=Bearer\ncredential=TOK\n")
    #expect(exchange(["get"], server).output.isEmpty, "older git cannot use it")
    #expect(exchange(["store"], server).code == 0)
    #expect(exchange(["erase"], authenticated + ["credential=OLD"]).code == 0)
    #expect(try itemCount == 1)
    #expect(exchange(["erase"], authenticated + ["credential=TOK"]).code == 0)
    #expect(try itemCount == 0)
    #expect(
      program.run("git-credential", "capability").output == "version 0\ncapability authtype\n")
  }

  @Test func passwordIsRenewedWithARefreshToken() {
    let server = ["protocol=https", "host=git.example.com", "username=oauth2"]
    _ = exchange(
      ["store"],
      server + ["password=old", "password_expiry_utc=1000000000", "oauth_refresh_token=R1"])
    #expect(exchange(["get"], server).output == "username=oauth2\noauth_refresh_token=R1\n")
    _ = exchange(
      ["store"],
      server + ["password=new", "password_expiry_utc=9999999999", "oauth_refresh_token=R2"])
    #expect(
      exchange(["get"], server).output
        == "username=oauth2\npassword=new\npassword_expiry_utc=9999999999\noauth_refresh_token=R2\n"
    )
  }

  @Test func authenticationTypeAddsNoLine() {
    set(
      "z", "secret", "--server", "h", "--protocol", "https", "--authentication-type",
      "Bearer\npassword=injected")
    let refused = exchange(
      "get", "capability[]=authtype", "protocol=https", "host=h", "username=z")
    #expect(refused.code != 0 && refused.output == "quit=1\n")
  }

  @Test(arguments: ["path=/etc/c.pem", "host="], ["get", "store", "erase"])
  func passphraseOfACertificateIsNotOurs(line: String, operation: String) throws {
    let outcome = exchange(operation, "protocol=cert", line, "username=", "password=p")
    #expect(outcome.code == 0 && outcome.output.isEmpty && outcome.messages.isEmpty)
    #expect(try itemCount == 0)
  }

  @Test func unknownOperationIsIgnored() {
    let outcome = exchange("approve", "protocol=https")
    #expect(outcome.code == 0 && outcome.output.isEmpty && outcome.messages.isEmpty)
  }

  @Test(arguments: [("get", "quit=1\n"), ("store", ""), ("erase", "")])
  func badRequestStopsGit(operation: String, answer: String) {
    let refused = exchange(operation, "protocol=https", "host=a\rb")
    #expect(refused.code == 64 && refused.output == answer)
    #expect(refused.messages.hasPrefix("prefs: error: ") && !refused.messages.contains("a\\r"))
  }

  /// What is typed could not be stored, and the setting would be asked about in each call.
  @Test(
    arguments: [["--unknown"], ["--passphrase-fd", "0"], ["--deadline", "soon"]],
    [("get", "quit=1\n"), ("store", ""), ("erase", "")])
  func wrongSettingStopsGit(options: [String], operation: (name: String, answer: String)) {
    let refused = exchange(options + [operation.name], ["protocol=https", "host=h"])
    #expect(refused.code == 64 && refused.output == operation.answer)
    #expect(refused.messages.hasPrefix("prefs: error: "))
  }

  @Test func operationIsNeeded() {
    let refused = program.run("git-credential")
    #expect(refused.code == 64 && refused.output.isEmpty)
    #expect(refused.messages.hasPrefix("prefs: error: "))
  }

  @Test(arguments: [
    ["--port", "1", "--protocol", "http"], ["--port", "8080", "--protocol", "https"],
    ["--protocol", "http"], ["--port", "8080"],
  ])
  func anotherPortOrSchemeGetsNothing(options: [String]) {
    let request = ["protocol=http", "host=127.0.0.1:8080"]
    set("alice", "secret", ["--server", "127.0.0.1"] + options)
    let absent = exchange(["get"], request)
    #expect(absent.code == 0 && absent.output.isEmpty && absent.messages.isEmpty)
    set("alice", "right", "--server", "127.0.0.1", "--protocol", "http", "--port", "8080")
    #expect(exchange(["get"], request).output == "username=alice\npassword=right\n")
  }

  @Test func userChoosesAmongSeveral() throws {
    let server = ["protocol=https", "host=h"]
    set("alice", "1", "--server", "h", "--protocol", "https")
    set("bob", "2", "--server", "h", "--protocol", "https")
    #expect(exchange(["get"], server + ["username=bob"]).output == "username=bob\npassword=2\n")
    #expect(exchange(["get"], server + ["username=carol"]).output.isEmpty)
    let refused = exchange(["get"], server)
    #expect(refused.code == 76 && refused.output.isEmpty)
    #expect(refused.messages.contains("2 credentials match"))
    #expect(refused.messages.contains("'bob' of server 'h'"))
    #expect(refused.saidInOneLine.contains("credential.https://HOST.username"))
    #expect(try itemCount == 2)
  }

  @Test func pathIsUsedIfItIsSent() {
    let server = ["protocol=https", "host=h"]
    set("alice", "1", "--server", "h", "--protocol", "https", "--path", "a.git")
    set("bob", "2", "--server", "h", "--protocol", "https", "--path", "b.git")
    #expect(exchange(["get"], server + ["path=a.git"]).output.contains("username=alice\n"))
    #expect(exchange(["get"], server + ["path=b.git"]).output.contains("username=bob\n"))
    #expect(exchange(["get"], server).messages.contains("2 credentials match"))
  }

  @Test func tokenWithoutAnAccountIsNotForAnotherUser() {
    let bearer = ["--server", "h", "--protocol", "https", "--authentication-type", "Bearer"]
    let server = ["capability[]=authtype", "protocol=https", "host=h"]
    set("", "TOK", bearer)
    #expect(exchange(["get"], server).output.contains("credential=TOK\n"))
    #expect(exchange(["get"], server + ["username=bob"]).output.isEmpty)
    set("bob", "BOB", bearer)
    #expect(exchange(["get"], server + ["username=bob"]).output.contains("credential=BOB\n"))
  }

  @Test(arguments: [("::1", "::1"), ("[::1]", "::1"), ("[2001:db8::a]", "2001:db8::a")])
  func addressIsTheSameWithAndWithoutBrackets(stored: String, bare: String) {
    let withPort = ["protocol=https", "host=[\(bare)]:8443"]
    set("alice", "secret", "--server", stored, "--protocol", "https", "--port", "8443")
    #expect(exchange(["get"], withPort).output.contains("password=secret\n"))
    set("alice", "usual", "--server", stored, "--protocol", "https")
    for host in [bare, "[\(bare)]"] {
      #expect(
        exchange("get", "protocol=https", "host=\(host)").output.contains("password=usual\n"))
    }
    #expect(exchange(["erase"], withPort + ["username=alice", "password=secret"]).code == 0)
    #expect(exchange(["get"], withPort).output.isEmpty)
  }

  @Test func accessGroupHasItsOwn() {
    let server = ["protocol=https", "host=h"]
    set("alice", "usual", "--server", "h", "--protocol", "https")
    set("alice", "secret", "--server", "h", "--protocol", "https", "--access-group", "work")
    for option in ["--access-group", "-g"] {
      #expect(exchange([option, "work", "get"], server).output.contains("password=secret\n"))
    }
    #expect(exchange(["get"], server).output.contains("password=usual\n"))
    #expect(exchange(["--access-group", "other", "get"], server).output.isEmpty)
  }

  @Test func expiredPasswordIsNotSent() {
    let server = ["protocol=https", "host=h"]
    set("alice", "secret", "--server", "h", "--protocol", "https", "--expires", "2020-01-01")
    let expired = exchange(["get"], server)
    #expect(expired.code == 0 && expired.output == "username=alice\n")
    #expect(expired.messages.hasPrefix("prefs: the password of "))
    #expect(expired.messages.contains("has expired\nprefs: hint: "))
    for quiet in [
      exchange(["get", "--quiet"], server), exchange(["get"], server, ["KEYCHAIN_QUIET": "1"]),
    ] {
      #expect(quiet.output == "username=alice\n" && quiet.messages.isEmpty)
    }
  }

  @Test(arguments: ["get", "store", "erase"])
  func lockedStoreStopsGit(operation: String) throws {
    let request = ["protocol=https", "host=h", "username=alice", "password=secret"]
    set("alice", "secret", "--server", "h", "--protocol", "https")
    store.lock(all: true)
    let refused = exchange([operation], request)
    #expect(refused.code == 77)
    #expect(refused.output == (operation == "get" ? "quit=1\n" : ""))
    #expect(refused.messages.contains("locked") && refused.messages.contains("prefs: hint: "))
    store.unlock()
    #expect(try itemCount == 1)
  }

  @Test func vaultThatIsMissingIsNamed() throws {
    let home = try ClientHome()
    var program = home.program
    program.store = nil
    program.environment["KEYCHAIN_VAULT"] = home.file("typo.db")
    let missing = program.run(
      "git-credential", "get", "--store", "vault", input: "protocol=https\nhost=h\n\n")
    #expect(missing.code == 0 && missing.output.isEmpty)
    #expect(missing.messages.contains("typo.db' does not exist"))
    program.environment["KEYCHAIN_VAULT"] = home.file("typo/vault")
    let refused = program.run(
      "git-credential", "get", "--store", "vault", input: "protocol=https\nhost=h\n\n")
    #expect(refused.code == 69 && refused.output == "quit=1\n")
  }

  @Test func terminalShowsWhatIsAwaited() {
    var program = program
    program.person = ScriptedPerson()
    let waiting = program.run("git-credential", "get")
    #expect(
      waiting.messages
        == "prefs: waiting for lines such as host=example.com, which a client sends; "
        + "an empty line ends it\n")
    #expect(program.run("git-credential", "get", "--quiet").messages.isEmpty)
  }
}
