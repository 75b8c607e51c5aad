import Foundation
import KeychainCredentials
import KeychainHelpers
import KeychainSecrets
import Testing

@Suite("Credentials for git")
struct GitCredentialHelperTests {
  let store = InMemoryCredentialStore()
  var git: GitRequests { GitRequests(store: store) }

  private static func password(
    _ account: String, server: String = "h", protocol: String = "https", port: UInt16 = 0,
    path: String = "", type: String = ""
  ) -> InternetPassword {
    InternetPassword(
      server: server, protocol: `protocol`, port: port, path: path, account: account,
      authenticationType: type)
  }

  @Test(arguments: [
    "protocol=https\nhost=h", "protocol=HTTPS\nhost=H", "protocol=https\nhost=h:443",
    "protocol=https\nhost=h\npath=a.git", "protocol=https\nhost=h\nusername=al",
  ])
  func givenForTheSameServer(_ request: String) throws {
    try store.put("pw", Self.password("al"))
    #expect(try git(.get, request) == ["username=al", "password=pw"])
  }

  @Test(arguments: [
    "protocol=http\nhost=h", "protocol=https\nhost=h:8443", "protocol=https\nhost=h.",
    "protocol=https\nhost=a.h", "protocol=https\nhost=h\nusername=bob", "protocol=https",
    "host=h", "protocol=https\nhost=\n", "protocol=https\nhost=h@h",
    "protocol=https\nhost=h\u{212A}", "protocol=https\nhost=h\nusername=",
  ])
  func neverGivenForAnotherServerOrUser(_ request: String) throws {
    try store.put("pw", Self.password("al"))
    try store.put("pw", Self.password("al", protocol: ""))
    #expect(try git(.get, request) == [])
  }

  @Test func portAndAddressInBracketsAreTakenApart() throws {
    try store.put("six", Self.password("al", server: "::1", port: 8901))
    #expect(try git(.get, "protocol=https", "host=[::1]:8901") == ["username=al", "password=six"])
    #expect(try git(.get, "protocol=https", "host=[::1]") == [])
    #expect(throws: KeychainError.self) { try git(.get, "protocol=https", "host=h:0") }
    #expect(throws: KeychainError.self) { try git(.get, "protocol=https", "host=h:65536") }
  }

  @Test func theMostSpecificIsGiven() throws {
    try store.put("host", Self.password("al"))
    try store.put("path", Self.password("al", path: "a.git"))
    let server = "protocol=https\nhost=h"
    #expect(try git(.get, server).last == "password=host")
    #expect(try git(.get, server, "path=a.git").last == "password=path")
    #expect(try git(.get, server, "path=b.git").last == "password=host")
  }

  @Test func aPathMayBeginWithASlash() throws {
    try store.put("slash", Self.password("al", path: "/a.git"))
    #expect(
      try git(.get, "protocol=https", "host=h", "path=a.git") == ["username=al", "password=slash"])
  }

  @Test func severalAccountsAreAQuestion() throws {
    try store.put("1", Self.password("al"))
    try store.put("2", Self.password("bob"))
    let failure = #expect(throws: KeychainError.self) {
      try git(.get, "protocol=https", "host=h")
    }
    let error = try #require(failure)
    #expect(error.code == .ambiguous && GitCredentialHelper.reply(to: error, of: .get) == "")
    #expect(try git(.get, "protocol=https", "host=h", "username=bob").last == "password=2")
  }

  @Test func withoutAnAccountOnlyThePasswordIsGiven() throws {
    try store.put("token", Self.password(""))
    #expect(try git(.get, "protocol=https", "host=h") == ["password=token"])
    #expect(
      try git(.get, "protocol=https", "host=h", "username=x") == ["username=x", "password=token"])
  }

  @Test func anEmptyNameWithAnEmptyPasswordIsKept() throws {
    #expect(try git(.store, "protocol=https", "host=h", "username=", "password=") == [])
    #expect(try git(.get, "protocol=https", "host=h") == ["username=", "password="])
  }

  @Test func expiredPasswordIsNotGiven() throws {
    try store.put(
      "old\noauth_refresh_token=RT", Self.password("al"), expires: .now - 1,
      contentType: "application/x-git-credential")
    #expect(
      try git(.get, "protocol=https", "host=h") == ["username=al", "oauth_refresh_token=RT"])
  }

  @Test func expiryIsGivenInSeconds() throws {
    _ = try git(
      .store, "protocol=https", "host=h", "username=al", "password=pw",
      "password_expiry_utc=9999999999")
    #expect(
      try git(.get, "protocol=https", "host=h")
        == ["username=al", "password=pw", "password_expiry_utc=9999999999"])
  }

  @Test(arguments: ["a\nb", "a\n", "a\rb", "a\0"])
  func secretsThatAreNoLineAreRefused(_ secret: String) throws {
    try store.put(secret, Self.password("al"))
    let failure = #expect(throws: KeychainError.self) {
      try git(.get, "protocol=https", "host=h")
    }
    #expect(failure?.code == .undecodable)
  }

  @Test func namesThatAreNoLineAreRefused() throws {
    try store.put("pw", Self.password("al\npassword=x"))
    #expect(throws: KeychainError.self) { try git(.get, "protocol=https", "host=h") }
  }

  @Test func lockedStopsGit() throws {
    try store.put("pw", Self.password("al"))
    store.lock()
    let failure = #expect(throws: KeychainError.self) {
      try git(.get, "protocol=https", "host=h")
    }
    let error = try #require(failure)
    #expect(error.code == .locked)
    #expect(GitCredentialHelper.reply(to: error, of: .get) == "quit=1\n")
    #expect(GitCredentialHelper.reply(to: error, of: .store) == "")
  }

  @Test func bearerIsForGitThatUnderstandsIt() throws {
    try store.put("TOK", Self.password("", type: "Bearer"))
    #expect(try git(.get, "protocol=https", "host=h") == [])
    #expect(
      try git(.get, "capability[]=authtype", "capability[]=state", "protocol=https", "host=h")
        == ["capability[]=authtype", "authtype=Bearer", "credential=TOK"])
  }

  @Test func bearerWithoutAnAccountIsForNoOtherUser() throws {
    try store.put("TOK", Self.password("", type: "Bearer"))
    let ask = "capability[]=authtype\nprotocol=https\nhost=h"
    #expect(try git(.get, ask, "username=bob") == [])
    #expect(try git(.get, ask, "username=").contains("credential=TOK"))
    try store.put("BOB", Self.password("bob", type: "Bearer"))
    #expect(try git(.get, ask, "username=bob").contains("credential=BOB"))
  }

  @Test func typesOfOtherProgramsArePasswords() throws {
    try store.put("pw", Self.password("al", type: "httpBasic"))
    #expect(try git(.get, "protocol=https", "host=h") == ["username=al", "password=pw"])
  }

  @Test func capabilities() throws {
    #expect(try git(.capability) == ["version 0", "capability authtype"])
  }
}
