internal import KeychainCredentials
internal import Testing

@Suite("References to credentials")
struct CredentialReferenceTests {
  private static func web(
    _ server: String = "host", _ protocolName: String = "https", port: UInt16 = 0,
    path: String? = nil, account: String? = nil, domain: String? = nil, type: String? = nil
  ) -> CredentialReference.Subject {
    .internetPassword(
      InternetPasswordPattern(
        server: server, protocol: protocolName, port: port, path: path, account: account,
        securityDomain: domain, authenticationType: type))
  }

  @Test(
    arguments: [
      ("keychain://mytool/me", .genericPassword(service: "mytool", account: "me")),
      ("KeyChain://mytool/me", .genericPassword(service: "mytool", account: "me")),
      ("keychain:///api", .genericPassword(service: nil, account: "api")),
      ("keychain://a%2Fb:8/x@y.z", .genericPassword(service: "a/b:8", account: "x@y.z")),
      ("keychain://a+b/%C3%BC", .genericPassword(service: "a+b", account: "ü")),
      ("keychain://ü/%2525", .genericPassword(service: "ü", account: "%25")),
      ("keychain+https://host", web()),
      ("KEYCHAIN+HTTPS://Host", web("Host")),
      ("keychain+://host", web("host", "")),
      ("keychain+https://me@host:8443/a/b.git", web(port: 8443, path: "a/b.git", account: "me")),
      ("keychain+https://@host/", web(path: "", account: "")),
      ("keychain+https://m%40e%3A@host//a", web(path: "/a", account: "m@e:")),
      ("keychain+ssh://[::1]:65535", web("[::1]", "ssh", port: 65535)),
      ("keychain+://https%3A%2F%2Fh%2Fv1%2F", web("https://h/v1/", "")),
      ("keychain+https://host?security-domain=a%20b", web(domain: "a b")),
      ("keychain+https://host?authentication-type=&security-domain=x", web(domain: "x", type: "")),
    ] as [(String, CredentialReference.Subject)])
  func namesAreRead(text: String, subject: CredentialReference.Subject) throws {
    let reference = try CredentialReference(text)
    #expect(reference == CredentialReference(subject))
    #expect(try CredentialReference(reference.description) == reference)
  }

  @Test func parametersAreRead() throws {
    let subject = CredentialReference.Subject.genericPassword(service: "s", account: "a")
    let all = try CredentialReference(
      "keychain://s/a?optional&encoding=base64&field=attribute:a%3D%26:b&group=team%20x")
    #expect(
      all
        == CredentialReference(
          subject, accessGroup: "team x", field: .attribute("a=&:b"), encoding: .base64,
          isOptional: true))
    let fields: [(String, CredentialReference.Field)] = [
      ("secret", .secret), ("username", .username), ("url", .url), ("label", .label),
      ("attribute:secret", .attribute("secret")), ("attribute%3A+", .attribute("+")),
    ]
    for (text, field) in fields {
      #expect(
        try CredentialReference("keychain://s/a?field=\(text)")
          == CredentialReference(subject, field: field))
    }
  }

  @Test(arguments: [
    ("", "'://' is missing"), ("hunter2", "'://' is missing"), ("keychain:s/a", "'://'"),
    ("https://host", "neither"), ("xkeychain://s/a", "neither"), ("keychainx://s/a", "neither"),
    ("keychain://s", "the account is missing"), ("keychain://s/", "the account is missing"),
    ("keychain://", "the account is missing"), ("keychain:///", "the account is missing"),
    ("keychain:////a", "a '/' follows"), ("keychain://s/a/b", "a '/' follows"),
    ("keychain://a:b@s/a", "the service has an '@'"),
    ("keychain://s/a b", "byte 15 is a space"), (" keychain://s/a", "byte 1 is"),
    ("keychain://s/a\n", "byte 15 is"), ("keychain://s/\u{7F}", "byte 14 is"),
    ("keychain://s/a%0A", "the account has a control"), ("keychain://s%C2%85/a", "the service has"),
    ("keychain://s/a%00", "the account has a control"),
    ("keychain://s/a%4", "the account is not percent"), ("keychain://s/%zz", "the account is not"),
    ("keychain://%ff/a", "the service is not percent-encoded UTF-8"),
    ("keychain://%C0%AF/a", "the service is not"), ("keychain://s/a#x", "it has a '#'"),
    ("keychain://s/a?", "parameter 1 is unknown"), ("keychain://s/a?optional&", "parameter 2 is"),
    ("keychain://s/a?x=1", "parameter 1 is unknown"), ("keychain://s/a?Field=url", "1 is unknown"),
    ("keychain://s/a?optional=1", "parameter 1, 'optional', has a value"),
    ("keychain://s/a?group", "'group', has no value"), ("keychain://s/a?group=", "has no value"),
    ("keychain://s/a?field=label&field=label", "parameter 2, 'field', is repeated"),
    ("keychain://s/a?optional&optional", "parameter 2, 'optional', is repeated"),
    ("keychain://s/a?field=", "is not a field"), ("keychain://s/a?field=otp", "is not a field"),
    ("keychain://s/a?field=attribute:", "is not a field"),
    ("keychain://s/a?encoding=hex", "is not base64"),
    ("keychain://s/a?security-domain=x", "only for internet passwords"),
    ("keychain://s/a?authentication-type=x", "only for internet passwords"),
    ("keychain+https://", "the host is missing"), ("keychain+https:///p", "the host is missing"),
    ("keychain+https://me@", "the host is missing"), ("keychain+https://:80", "the host is"),
    ("keychain+https://me:pw@host", "as before a password"),
    ("keychain+https://a@b@host", "several '@'"), ("keychain+https://host:", "the port"),
    ("keychain+https://host:0", "the port"), ("keychain+https://host:080", "the port"),
    ("keychain+https://host:65536", "the port"), ("keychain+https://host:+1", "the port"),
    ("keychain+https://a:1:2", "the port"), ("keychain+https://[::1", "not one of IPv6"),
    ("keychain+https://[]", "not one of IPv6"), ("keychain+https://[host]", "not one of IPv6"),
    ("keychain+https://[::1]x", "follows the address"),
    ("keychain+https://ho%0Ast", "the host has"),
    ("keychain+https://host/%0D", "the path has a control"), ("keychain+ht%zz://host", "protocol"),
  ])
  func invalidTextIsRefused(text: String, reason: String) {
    let failure = #expect(throws: KeychainError.self) { try CredentialReference(text) }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message.contains(reason) == true, "\(failure?.message ?? "")")
  }

  // Somebody may put the secret itself where a reference is expected.
  @Test(arguments: [
    "hunter2", "keychain://s/hunter2/x", "keychain://hunter2", "keychain://me:hunter2@host/a",
    "keychain://s/hunter2%", "keychain://s/a?hunter2", "keychain://s/a?hunter2=1&hunter2=1",
    "keychain://s/a?field=hunter2", "keychain://s/a?encoding=hunter2", "keychain://s/a hunter2",
    "keychain://s/a?optional=hunter2", "keychain+hunter2%://h", "keychain+https://me:hunter2@h",
    "keychain+https://h:hunter2", "keychain+https://[hunter2]", "keychain://s/a?group&hunter2",
    "keychain://s/a#hunter2", "keychain://s/hunter2%01",
  ])
  func aMessageNeverRepeatsTheText(text: String) {
    let failure = #expect(throws: KeychainError.self) { try CredentialReference(text) }
    #expect(failure.map { !String(reflecting: $0).contains("hunter2") } == true)
  }

  @Test(arguments: ["keychain:", "keychain://s/a", "KEYCHAIN+x", "Keychain:x\u{301}", "keychain+"])
  func textMeantAsAReferenceIsRecognized(text: String) {
    #expect(CredentialReference.isReference(text))
  }

  @Test(arguments: ["", "keychain", "keychains://", " keychain://", "\u{212A}eychain:", "key"])
  func otherTextIsNotAReference(text: String) {
    #expect(!CredentialReference.isReference(text))
  }

  @Test func namesAreComparedAsBytes() throws {
    let composed = try CredentialReference("keychain://s/%C3%BC")
    let decomposed = try CredentialReference("keychain://s/u%CC%88")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed, composed]).count == 2)
    let field = try CredentialReference("keychain://s/a?field=attribute:%C3%BC")
    #expect(try field != CredentialReference("keychain://s/a?field=attribute:u%CC%88"))
    #expect(
      try CredentialReference("keychain+https://h")
        == CredentialReference(.internetPassword(.init(server: "h", protocol: "HTTPS"))))
    #expect(
      try CredentialReference("keychain+https://h") != CredentialReference("keychain+https://h/"))
    #expect(
      CredentialReference(.genericPassword(service: "", account: "a"))
        == CredentialReference(.genericPassword(service: nil, account: "a")))
  }

  @Test func serviceOrServerIsNamed() throws {
    let ours = try CredentialReference("keychain:///a")
    #expect(ours.serviceName(default: "mytool") == "mytool")
    #expect(ours.belongs(to: "mytool", defaultService: "mytool"))
    #expect(!ours.belongs(to: "MyTool", defaultService: "mytool"))
    let web = try CredentialReference("keychain+https://me@Host:1/p")
    #expect(web.serviceName(default: "mytool") == "Host")
    #expect(web.belongs(to: "hOST", defaultService: "mytool"))
    #expect(!web.belongs(to: "mytool", defaultService: "mytool"))
    #expect(!web.belongs(to: "x.host", defaultService: "mytool"))
  }

  @Test func anIdentityHasAReference() {
    let generic = CredentialIdentity.genericPassword(service: "s/1", account: "a", accessGroup: "g")
    #expect(CredentialReference(generic).description == "keychain://s%2F1/a?group=g")
    let password = InternetPassword(server: "h", protocol: "https", port: 80, account: "me")
    #expect(
      CredentialReference(CredentialIdentity(.internetPassword(password))).description
        == "keychain+https://me@h:80")
  }

  @Test(arguments: 0..<20)
  func anyReferenceIsReadFromItsText(seed: UInt64) throws {
    var random = Random(state: seed &* 0x9E37_79B9_7F4A_7C15 | 1)
    for _ in 0..<200 {
      let reference = random.reference()
      let text = reference.description
      #expect(try CredentialReference(text) == reference, "\(text)")
      #expect(try CredentialReference(text).description == text)
      #expect(text.utf8.allSatisfy { (0x21...0x7E).contains($0) })
      #expect(CredentialReference.isReference(text))
      // Any damage is either refused or another valid reference, which is read again.
      var bytes = Array(text.utf8)
      let index = Int.random(in: bytes.indices, using: &random)
      bytes[index] = UInt8.random(in: 0x20...0x7F, using: &random)
      let damaged = String(decoding: bytes, as: UTF8.self)
      if let other = try? CredentialReference(damaged) {
        #expect(try CredentialReference(other.description) == other, "\(damaged)")
      }
    }
  }
}

/// A generator of the same references for each seed.
private struct Random: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }

  mutating func text(_ lengths: ClosedRange<Int> = 1...6) -> String {
    let scalars = Array("aZ0-._~ /?#[]@!$&'()*+,;=:%\"<>\\^`{|}ü\u{308}\u{1F600}é".unicodeScalars)
    let length = Int.random(in: lengths, using: &self)
    var text = String.UnicodeScalarView()
    for _ in 0..<length { text.append(scalars[Int.random(in: scalars.indices, using: &self)]) }
    return String(text)
  }

  private mutating func some(_ lengths: ClosedRange<Int> = 0...4) -> String? {
    Bool.random(using: &self) ? text(lengths) : nil
  }

  mutating func reference() -> CredentialReference {
    let fields: [CredentialReference.Field] = [
      .secret, .username, .url, .label, .attribute(text()),
    ]
    let pattern = InternetPasswordPattern(
      server: Bool.random(using: &self) ? "[fe80::1]" : text(),
      protocol: some() ?? "https",
      port: Bool.random(using: &self) ? UInt16.random(in: 0...65535, using: &self) : 0,
      path: some(), account: some(), securityDomain: some(), authenticationType: some())
    return CredentialReference(
      Bool.random(using: &self)
        ? .internetPassword(pattern) : .genericPassword(service: some(), account: text()),
      accessGroup: some() ?? "", field: fields[Int.random(in: fields.indices, using: &self)],
      encoding: Bool.random(using: &self) ? .base64 : .none,
      isOptional: Bool.random(using: &self))
  }
}
