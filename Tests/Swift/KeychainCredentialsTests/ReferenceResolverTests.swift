internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import Testing

@Suite("Resolving references")
struct ReferenceResolverTests {
  private let store = InMemoryCredentialStore()

  private var resolver: ReferenceResolver {
    ReferenceResolver(store: store, defaultService: "mytool")
  }

  private func text(_ reference: String) throws -> String {
    let value = try resolver.resolve(CredentialReference(reference))
    return value.withBytes { bytes in
      bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
  }

  private func code(_ reference: String) -> KeychainError.Code? {
    do {
      _ = try text(reference)
      return nil
    } catch {
      return (error as? KeychainError)?.code
    }
  }

  private func add(
    _ identity: CredentialIdentity, secret: String, label: String? = nil, expires: Date? = nil,
    accessibility: Accessibility = .whenUnlocked, attributes: CredentialAttributes = [:]
  ) throws {
    try store.set(
      Credential(
        identity, accessibility: accessibility, label: label, expires: expires,
        attributes: attributes), secret: SecretBytes(copying: secret))
  }

  private func addWeb(
    _ server: String = "host", _ protocolName: String = "https", port: UInt16 = 0,
    path: String = "", account: String = "me", domain: String = "", secret: String
  ) throws {
    let password = InternetPassword(
      server: server, protocol: protocolName, port: port, path: path, account: account,
      securityDomain: domain)
    try add(CredentialIdentity(.internetPassword(password)), secret: secret)
  }

  @Test func aSecretIsResolved() throws {
    try add(.genericPassword(service: "mytool", account: "api"), secret: "one\n")
    try add(.genericPassword(service: "other", account: "api"), secret: "two")
    try add(.genericPassword(service: "mytool", account: "api", accessGroup: "g"), secret: "three")
    #expect(try text("keychain:///api") == "one\n")
    #expect(try text("keychain://other/api") == "two")
    #expect(try text("keychain:///api?group=g") == "three")
    #expect(try text("keychain://other/api?encoding=base64") == "dHdv")
    #expect(code("keychain://other/api?group=g") == .notFound)
  }

  @Test func fieldsAreResolved() throws {
    try add(
      .genericPassword(service: "s", account: "me"), secret: "x", label: "Mine",
      attributes: ["stage": "live", "empty": ""])
    #expect(try text("keychain://s/me?field=username") == "me")
    #expect(try text("keychain://s/me?field=label") == "Mine")
    #expect(try text("keychain://s/me?field=attribute:stage&encoding=base64") == "bGl2ZQ==")
    #expect(try text("keychain://s/me?field=attribute:empty") == "")
    #expect(code("keychain://s/me?field=attribute:other") == .notFound)
    #expect(code("keychain://s/me?field=url") == .notFound)
    #expect(try text("keychain://s/me?field=url&optional") == "")
  }

  @Test(
    arguments: [
      ("host", "https", 8443, "a b/c.git", "https://host:8443/a%20b/c.git"),
      ("host", "https", 0, "/a", "https://host/a"), ("host", "https", 0, "", "https://host"),
      ("[::1]", "ssh", 22, "", "ssh://[::1]:22"), ("https://h/v1/", "", 0, "", "https://h/v1/"),
    ] as [(String, String, UInt16, String, String)])
  func aURLIsResolved(
    server: String, protocolName: String, port: UInt16, path: String, url: String
  ) throws {
    try addWeb(server, protocolName, port: port, path: path, secret: "x")
    var reference = CredentialReference(
      .internetPassword(.init(server: server, protocol: protocolName, port: port)))
    reference.field = .url
    #expect(try text(reference.description) == url)
  }

  @Test func optionalReferenceMayBeAbsent() throws {
    #expect(code("keychain:///api") == .notFound)
    #expect(code("keychain+https://host") == .notFound)
    #expect(try text("keychain:///api?optional") == "")
    #expect(try text("keychain:///api?optional&encoding=base64&field=label") == "")
    #expect(try text("keychain+https://host?optional") == "")
    // No other failure is forgiven.
    try add(.genericPassword(service: "mytool", account: "old"), secret: "x", expires: .distantPast)
    #expect(code("keychain:///old?optional") == .expired)
    try addWeb(path: "a", secret: "x")
    try addWeb(path: "b", secret: "x")
    #expect(code("keychain+https://host?optional") == .ambiguous)
    for failure in [KeychainError.Code.damaged, .noStore, .notFound] {
      store.fail(.reading, with: KeychainError(failure, "broken"))
      #expect(code("keychain:///api?optional") == failure)
      #expect(code("keychain+https://host?optional") == failure)
    }
  }

  @Test func anExpiredSecretIsKept() throws {
    try add(
      .genericPassword(service: "mytool", account: "old"), secret: "x", label: "Old",
      expires: Date(timeIntervalSinceNow: -1))
    #expect(code("keychain:///old") == .expired)
    #expect(try text("keychain:///old?field=label") == "Old")
    #expect(try text("keychain:///old?field=username") == "old")
    var resolver = resolver
    resolver.allowsExpired = true
    #expect(try resolver.resolve(CredentialReference("keychain:///old")).count == 1)
  }

  @Test func internetPasswordsMatchByProtocolHostAndPort() throws {
    try addWeb(secret: "plain")
    try addWeb(port: 8443, secret: "other port")
    try addWeb("host", "http", secret: "other scheme")
    try addWeb("host", "", secret: "no scheme")
    #expect(try text("keychain+https://host") == "plain")
    #expect(try text("keychain+https://host:443") == "plain")
    #expect(try text("keychain+https://host:8443") == "other port")
    #expect(try text("keychain+http://host") == "other scheme")
    #expect(try text("keychain+http://host:80/?optional") == "other scheme")
    #expect(try text("keychain+://host") == "no scheme")
    #expect(code("keychain+https://host:80") == .notFound)
    #expect(code("keychain+ssh://host") == .notFound)
    #expect(code("keychain+https://sub.host") == .notFound)
    #expect(code("keychain+https://host.") == .notFound)
    #expect(code("keychain://host/me") == .notFound)
  }

  @Test func hostsAreFoundInOtherCase() throws {
    try addWeb("host", "HTTPS", secret: "small")
    try addWeb("Other", secret: "capital")
    #expect(try text("keychain+https://HOST") == "small")
    #expect(try text("keychain+https://Other") == "capital")
  }

  @Test func omittedNamesMatchAnyValue() throws {
    try addWeb(path: "a", account: "alice", domain: "x", secret: "alice a")
    try addWeb(path: "/b", account: "bob", secret: "bob b")
    #expect(try text("keychain+https://alice@host") == "alice a")
    #expect(try text("keychain+https://host/a") == "alice a")
    #expect(try text("keychain+https://host//a") == "alice a")
    #expect(try text("keychain+https://host/b?field=username") == "bob")
    #expect(try text("keychain+https://host?security-domain=x") == "alice a")
    #expect(try text("keychain+https://host?security-domain=") == "bob b")
    #expect(code("keychain+https://host") == .ambiguous)
    #expect(code("keychain+https://host/") == .notFound)
    #expect(code("keychain+https://Alice@host") == .notFound)
    #expect(code("keychain+https://host?authentication-type=x") == .notFound)
  }

  @Test func thePasswordOfTheWholeHostIsPreferred() throws {
    try addWeb(path: "a", secret: "a")
    try addWeb(secret: "host")
    #expect(try text("keychain+https://me@host") == "host")
    #expect(try text("keychain+https://me@HOST:443") == "host")
    #expect(try text("keychain+https://host/a") == "a")
    #expect(code("keychain+https://host") == .ambiguous)
    let failure = #expect(throws: KeychainError.self) { try text("keychain+https://host") }
    #expect(failure?.message.contains("path 'a'") == true)
  }

  @Test func lockedItemsAreUnlockedOrReported() throws {
    try addWeb(path: "a", secret: "x")
    try add(
      CredentialIdentity(
        .internetPassword(InternetPassword(server: "host", protocol: "ssh", account: "me"))),
      secret: "y", accessibility: .always)
    store.lock()
    #expect(code("keychain+https://host") == .locked)
    #expect(code("keychain+https://host?optional") == .locked)
    let store = store
    let unlocking = ReferenceResolver(store: store, defaultService: "mytool") {
      _ throws(KeychainError) in store.unlock()
    }
    #expect(try unlocking.resolve(CredentialReference("keychain+https://host")).count == 1)
  }
}
