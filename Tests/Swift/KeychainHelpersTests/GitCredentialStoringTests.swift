import ForwardingStores
import Foundation
import KeychainCredentials
import KeychainHelpers
import KeychainSecrets
import Synchronization
import Testing

@Suite("What git stores and erases")
struct GitCredentialStoringTests {
  let store = InMemoryCredentialStore()
  var git: GitRequests { GitRequests(store: store) }
  private static let server = "protocol=https\nhost=h"
  private static let al = "protocol=https\nhost=h\nusername=al"

  private func versions() throws -> [UInt64] {
    try store.search(CredentialQuery()).credentials.map(\.version)
  }

  @Test func storingTheSameChangesNothing() throws {
    _ = try git(
      .store, Self.al, "password=pw", "password_expiry_utc=9999999999", "oauth_refresh_token=RT")
    let before = try versions()
    _ = try git(.store, Self.al, "password=pw")
    _ = try git(.store, "protocol=https\nhost=H:443\nusername=al\npath=p\npassword=pw")
    _ = try git(.store, Self.al, "password=pw", "oauth_refresh_token=RT")
    #expect(try versions() == before)
    #expect(try store.contents() == ["al/=pw\noauth_refresh_token=RT"])
  }

  @Test(arguments: [
    "password=new", "password=pw\npassword_expiry_utc=9999999998",
    "password=pw\noauth_refresh_token=R2",
  ])
  func changedCredentialIsStored(_ change: String) throws {
    _ = try git(
      .store, Self.al, "password=pw", "password_expiry_utc=9999999999", "oauth_refresh_token=RT")
    let before = try versions()
    _ = try git(.store, Self.al, change)
    #expect(try versions() != before)
    let given = try git(.get, Self.server)
    for line in change.split(separator: "\n") { #expect(given.contains(String(line))) }
  }

  @Test func newPasswordDropsTheExpiryAndKeepsTheRefreshToken() throws {
    _ = try git(
      .store, Self.al, "password=pw", "password_expiry_utc=9999999999", "oauth_refresh_token=RT")
    _ = try git(.store, Self.al, "password=new")
    #expect(
      try git(.get, Self.server) == ["username=al", "password=new", "oauth_refresh_token=RT"])
  }

  @Test func newRefreshTokenKeepsTheExpiryOfTheSamePassword() throws {
    _ = try git(.store, Self.al, "password=pw", "password_expiry_utc=9999999999")
    _ = try git(.store, Self.al, "password=pw", "oauth_refresh_token=R2")
    #expect(
      try git(.get, Self.server)
        == [
          "username=al", "password=pw", "password_expiry_utc=9999999999", "oauth_refresh_token=R2",
        ])
  }

  @Test func passwordThatWorksHasNotExpired() throws {
    try store.put(
      "pw", InternetPassword(server: "h", protocol: "https", account: "al"), expires: .now - 1)
    _ = try git(.store, Self.al, "password=pw")
    #expect(try git(.get, Self.server) == ["username=al", "password=pw"])
  }

  @Test(arguments: [
    "username=al", "password=pw", "username=al\npassword=pw\nephemeral=1",
    "capability[]=authtype",
  ])
  func incompleteCredentialIsIgnored(_ lines: String) throws {
    _ = try git(.store, Self.server, lines)
    #expect(try versions().isEmpty)
  }

  @Test func bearerIsStoredAndErased() throws {
    let bearer = "capability[]=authtype\nprotocol=https\nhost=h\nauthtype=Bearer\ncredential=TOK"
    _ = try git(.store, bearer)
    let before = try versions()
    _ = try git(.store, bearer)
    #expect(try versions() == before)
    let ask = "capability[]=authtype\n\(Self.server)"
    #expect(try git(.get, ask).contains("credential=TOK"))
    _ = try git(.erase, Self.server, "username=al", "password=TOK")
    _ = try git(.erase, Self.server, "authtype=Bearer", "credential=OTHER")
    #expect(try versions() == before)
    _ = try git(.erase, bearer)
    #expect(try versions().isEmpty)
  }

  @Test func onlyTheRejectedPasswordIsErased() throws {
    _ = try git(.store, Self.al, "password=new")
    _ = try git(.erase, Self.al, "password=old")
    _ = try git(.erase, "protocol=https\nhost=h:8443\nusername=al\npassword=new")
    _ = try git(.erase, "protocol=https\nhost=h\nusername=bob\npassword=new")
    #expect(try store.contents() == ["al/=new"])
    _ = try git(.erase, Self.al, "password=new")
    #expect(try store.contents() == [])
  }

  @Test func generalCredentialIsNotErasedByUserOrPath() throws {
    try store.put("token", InternetPassword(server: "h", protocol: "https", account: ""))
    _ = try git(.erase, Self.al, "password=token")
    #expect(try store.contents() == ["/=token"])
    _ = try git(.erase, Self.server, "path=p", "password=token")
    #expect(try store.contents() == ["/=token"])
    _ = try git(.erase, Self.server, "password=token")
    #expect(try store.contents() == [])
  }

  @Test func withoutAPasswordEverythingNamedIsErased() throws {
    for (account, path) in [("al", ""), ("al", "p"), ("bob", ""), ("", "")] {
      try store.put(
        "x", InternetPassword(server: "h", protocol: "https", path: path, account: account))
    }
    _ = try git(.erase, Self.al, "path=p")
    #expect(try store.contents() == ["/=x", "al/=x", "bob/=x"])
    _ = try git(.erase, Self.al)
    #expect(try store.contents() == ["/=x", "bob/=x"])
    _ = try git(.erase, Self.server)
    #expect(try store.contents() == [])
  }

  @Test(arguments: ["protocol=https", "host=h", "username=al\npassword=x", "protocol=https\nhost="])
  func nothingIsErasedWithoutAServer(_ lines: String) throws {
    _ = try git(.store, Self.al, "password=pw")
    #expect(throws: KeychainError.self) { try git(.erase, lines) }
    #expect(try store.contents() == ["al/=pw"])
  }

  @Test func passwordThatIsRenewedWhileItIsErasedStays() throws {
    let renewing = RenewingStore(store)
    _ = try git(.store, Self.al, "password=old")
    _ = try GitRequests(store: renewing)(.erase, Self.al, "password=old")
    #expect(try store.contents() == ["al/=renewed"])
  }

  @Test func anAnswerForAPathIsStoredIfSeveralAccountsFit() throws {
    _ = try git(.store, Self.al, "password=pw")
    _ = try git(.store, Self.server, "username=bob", "password=pw")
    _ = try git(.store, Self.al, "password=pw", "path=p")
    #expect(try store.contents().sorted() == ["al/=pw", "al/p=pw", "bob/=pw"])
    #expect(try git(.get, Self.server, "path=p") == ["username=al", "password=pw"])
    let before = try versions()
    _ = try git(.store, Self.al, "password=pw", "path=p")
    #expect(try versions() == before)
  }

  @Test func lockedIsNotLostSilently() throws {
    _ = try git(.store, Self.al, "password=pw")
    store.lock()
    for operation in [GitCredentialOperation.store, .erase] {
      let failure = #expect(throws: KeychainError.self) {
        try git(operation, Self.al, "password=new")
      }
      #expect(failure?.code == .locked)
    }
  }
}

/// Renews a password when it is about to be removed.
private final class RenewingStore: ForwardingStore {
  let content: InMemoryCredentialStore
  private let isRenewed = Mutex(false)

  init(_ store: InMemoryCredentialStore) { content = store }

  func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    if !isRenewed.withLock({ renewed in
      let was = renewed; renewed = true; return was
    }) {
      let secret = try SecretBytes(copying: "renewed")
      try content.set(Credential(identity), secret: secret)
    }
    return try content.remove(identity, expectedVersion: expectedVersion)
  }
}
