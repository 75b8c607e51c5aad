internal import KeychainCredentials
internal import Testing

@Suite("Results of searches")
struct SearchResultTests {
  /// A zero in a name is a byte of it, and a name precedes those that begin with it.
  @Test func credentialsAreOrderedByTheBytesOfTheirNames() {
    let names = [
      ("", "b"), ("a", ""), ("a", "\0"), ("a", "\0\0"), ("a", "\u{1}"), ("a", "Z"), ("a", "a"),
      ("a", "é"), ("a\0", ""), ("aa", ""), ("\u{e000}", ""), ("\u{10000}", ""),
    ]
    let credentials = names.map { Credential(.genericPassword(service: $0.0, account: $0.1)) }
    #expect(CredentialSearchResult(credentials: credentials.reversed()).credentials == credentials)
  }

  @Test func queryMatchesNamesOfItsKind() {
    let generic = Credential(.genericPassword(service: "s", account: "me"))
    let internet = Credential(
      CredentialIdentity(
        .internetPassword(
          InternetPassword(server: "h", protocol: "https", port: 443, path: "/p", account: "me"))))
    let ofGeneric = [CredentialQuery(service: "s"), CredentialQuery(service: "s", account: "me")]
    let ofInternet = [
      CredentialQuery(server: "h"), CredentialQuery(protocol: "https"), CredentialQuery(port: 443),
      CredentialQuery(path: "/p"),
    ]
    let ofBoth = [CredentialQuery(), CredentialQuery(accessGroup: "", account: "me")]
    let ofNone = [
      CredentialQuery(accessGroup: "g"), CredentialQuery(account: ""), CredentialQuery(port: 0),
      CredentialQuery(service: "s", server: "h"), CredentialQuery(attributes: ["a": "b"]),
      CredentialQuery(service: "t"), CredentialQuery(server: "i"), CredentialQuery(protocol: "ssh"),
      CredentialQuery(port: 22), CredentialQuery(path: "/q"),
    ]
    for (queries, matching) in [
      (ofGeneric, [true, false]), (ofInternet, [false, true]), (ofBoth, [true, true]),
      (ofNone, [false, false]),
    ] {
      for query in queries { #expect([generic, internet].map(query.matches) == matching) }
    }
  }
}

@Suite("Searches that did not look at everything")
struct IncompleteSearchTests {
  @Test func completeSearchIsNoError() {
    #expect(KeychainError(incomplete: CredentialSearchResult(credentials: [])) == nil)
  }

  @Test func firstReasonCounts() {
    let failure = KeychainError(.noStore, "no bus")
    var result = CredentialSearchResult(
      credentials: [], lockedCount: 2, damaged: ["one"], otherDeviceCount: 1, failures: [failure])
    #expect(KeychainError(incomplete: result) == failure)
    result.failures = []
    #expect(KeychainError(incomplete: result)?.code == .damaged)
    #expect(KeychainError(incomplete: result)?.message == "1 item is damaged: one")
    result.damaged = []
    #expect(KeychainError(incomplete: result)?.code == .locked)
    #expect(KeychainError(incomplete: result)?.message == "2 items that may match are locked")
    result.lockedCount = 0
    #expect(KeychainError(incomplete: result)?.code == .otherDevice)
  }
}
