import KeychainCredentials
import KeychainHelpers
import KeychainSecrets
import Testing

/// Decides what of a netrc file becomes a credential.
struct NetrcImportPlanTests {
  private func plan(_ text: String) throws -> NetrcImportPlan {
    try NetrcImportPlan(NetrcFile(SecretBytes(copying: text)))
  }

  private func identity(
    _ server: String, _ account: String, port: UInt16 = 0
  ) -> CredentialIdentity {
    CredentialIdentity(
      .internetPassword(
        InternetPassword(server: server, protocol: "https", port: port, account: account)))
  }

  @Test func hostsBecomeInternetPasswords() throws {
    let plan = try plan(
      "machine A.Example login Alice password p machine b:8443 login t password q\n"
        + "machine c:443 login u password r")
    #expect(
      plan.items.map(\.identity) == [
        identity("a.example", "Alice"), identity("b", "t", port: 8443), identity("c", "u"),
      ])
    #expect(plan.left.isEmpty && plan.repeatedHosts.isEmpty)
  }

  @Test func manyEntriesAreReadInTime() throws {
    let text = (0..<2000).map { "machine h\($0 % 1000) login a\($0) password p\n" }.joined()
    let start = ContinuousClock.now
    let plan = try plan(text)
    #expect(plan.items.count == 2000 && plan.repeatedHosts.count == 1000)
    #expect(ContinuousClock.now - start < .seconds(10))
  }

  @Test func entriesForFTPStay() throws {
    let plan = try plan(
      """
      machine a login l password p account x
      machine b login l password p
      macdef init
      ls

      machine c login l
      machine d password p
      machine e login l password x-oauth-basic
      machine f/g login l password p
      machine h login l password "a\\nb"
      machine i login l password ""
      machine j login l password #p
      default login l password p
      """)
    #expect(plan.items.isEmpty)
    #expect(
      plan.left.map(\.obstacle) == [
        .hasAccount, .hasMacro, .hasMacro, .hasNoPassword, .hasNoLogin, .hasSecretLogin, .hasNoHost,
        .isUnclear, .hasNoPassword, .isUnclear, .isDefault,
      ])
  }

  @Test(arguments: [
    "password p password q", "password p login m", #"password pa\ss"#, "password \"p\" password p",
    "password p\u{B}q", "password p\u{C}q",
  ])
  func ambiguousEntriesStay(values: String) throws {
    let plan = try plan("machine a login l \(values)\nmachine b login l password p")
    #expect(plan.items.map(\.identity) == [identity("b", "l")])
    #expect(plan.left.map(\.obstacle) == [.isUnclear])
  }

  /// git's own netrc program knows some of them, and they may say what the entry is for.
  @Test(arguments: ["method interactive", "protocol imap", "port 8443", "\"a note\"", "proto\nftp"])
  func entryWithAnotherWordStaysAlone(words: String) throws {
    let plan = try plan(
      "machine a login l \(words) password p\nmachine b login l password p\ndefault \(words)\n")
    #expect(plan.items.map(\.identity) == [identity("b", "l")])
    #expect(plan.left.map(\.obstacle) == [.hasUnknownWord, .isDefault])
    #expect(plan.left.first?.entry.line == 1)
  }

  @Test func portsOfOneAccountAreNotSeveralAccounts() throws {
    let text = "machine a:8443 login l password p\nmachine a login l password q\n"
    #expect(try plan(text).repeatedHosts.isEmpty)
    #expect(try plan(text + "machine a login m password r").repeatedHosts == ["a"])
  }

  @Test func equalEntriesAreOneAndOthersStay() throws {
    let plan = try plan(
      """
      machine a login l password p
      machine A login l password "p"
      machine b login l password p
      machine b login l password q
      machine b login m password r
      machine c login x password p
      machine c login y password p
      """)
    #expect(
      plan.items.map(\.identity) == [
        identity("a", "l"), identity("b", "m"), identity("c", "x"), identity("c", "y"),
      ])
    #expect(plan.items.map(\.entries.count) == [2, 1, 1, 1])
    #expect(plan.left.map(\.obstacle) == [.conflicts, .conflicts])
    #expect(plan.repeatedHosts == ["c"])
  }
}
