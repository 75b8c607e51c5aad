import Foundation
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainSecretService

/// Items as other programs write them, with their known attributes.
private struct ForeignWriter: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let attributes: [String]
  let identity: CredentialIdentity

  init(_ name: String, _ attributes: [String], _ identity: CredentialIdentity) {
    testDescription = name
    self.attributes = attributes
    self.identity = identity
  }

  static func generic(_ service: String, _ account: String) -> CredentialIdentity {
    .genericPassword(service: service, account: account)
  }

  static func internet(_ password: InternetPassword) -> CredentialIdentity {
    CredentialIdentity(.internetPassword(password))
  }

  static let all = [
    ForeignWriter(
      "Python keyring",
      ["service", "py", "username", "me", "application", "Python keyring library"],
      generic("py", "me")),
    ForeignWriter(
      "go-keyring", ["service", "gh:github.com", "username", ""], generic("gh:github.com", "")),
    ForeignWriter(
      "keyring-rs",
      ["service", "rs", "username", "me", "target", "default", "application", "rust-keyring"],
      generic("rs", "me")),
    ForeignWriter("keytar", ["service", "vscode", "account", "me"], generic("vscode", "me")),
    ForeignWriter("aws-vault", ["profile", "production"], generic("production", "")),
    ForeignWriter("cargo", ["url", "sparse+https://crates"], generic("sparse+https://crates", "")),
    ForeignWriter(
      "git",
      [
        "user", "me", "protocol", "https", "server", "example.org", "port", "8443", "object",
        "repo",
      ],
      internet(
        InternetPassword(
          server: "example.org", protocol: "https", port: 8443, path: "repo", account: "me"))),
    ForeignWriter(
      "docker",
      [
        "label", "Docker Credentials", "server", "https://index.docker.io/v1/", "username", "me",
        "docker_cli", "1",
      ],
      internet(InternetPassword(server: "https://index.docker.io/v1/", account: "me"))),
    ForeignWriter(
      "Emacs", ["host", "mail.example", "user", "me", "port", "993"],
      internet(InternetPassword(server: "mail.example", port: 993, account: "me"))),
  ]
}

@Suite("Other programs of the desktop", .timeLimit(.minutes(10)))
struct InteroperabilityTests {
  @Test func itemsOfOthersAreFound() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    for writer in ForeignWriter.all {
      try desktop.write(writer.testDescription, writer.attributes)
    }
    let found = try store.search(CredentialQuery()).credentials.map(\.identity)
    #expect(Set(found) == Set(ForeignWriter.all.map(\.identity)))
    for writer in ForeignWriter.all {
      #expect(try store.text(writer.identity) == writer.testDescription)
      let credential = try store.credential(for: writer.identity)
      #expect(credential?.identity == writer.identity)
      #expect(
        try store.search(CredentialQuery(writer.identity)).credentials
          == [credential].compactMap { $0 },
        "\(writer.testDescription)")
    }
    // A name by which another program would search.
    #expect(try store.text("me", service: "example.org") == "git")
    #expect(try store.text("you", service: "example.org") == nil)
    #expect(try store.text("me", service: "py", group: "g") == nil)
  }

  @Test func othersFindWhatIsStored() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    let web = InternetPassword(
      server: "example.org", protocol: "https", path: "repo", account: "me")
    try store.put("a", "one")
    try store.set(
      Credential(CredentialIdentity(.internetPassword(web)), attributes: ["team": "x"]),
      secret: SecretBytes(copying: "two"))
    #expect(try desktop.read("service", "test", "username", "a") == "one")
    #expect(try desktop.read("service", "test", "account", "a") == "one")
    #expect(
      try desktop.read("server", "example.org", "user", "me", "protocol", "https", "object", "repo")
        == "two")
    #expect(try desktop.read("team", "x") == "two")
    #expect(try desktop.read("xdg:schema", ItemAttributes.schema, "service", "test") == "one")
    #expect(
      try desktop.read("access-group", "", "accessibility", "whenUnlocked", "username", "a")
        == "one")
  }

  // When asked to replace, gnome-keyring replaces any item that has all of the new attributes.
  @Test func itemsOfOthersAreNeverReplaced() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    try desktop.write("theirs", ["service", "test"])
    try desktop.write("Python's", ["service", "test", "username", "a", "application", "Python"])
    #expect(try store.text("a") == "Python's")
    try store.put("a", "ours")
    try store.put("a", "ours again")
    #expect(try store.text("a") == "ours again")
    #expect(try desktop.read("application", "Python") == "Python's")
    #expect(try desktop.itemCount() == 3)
    expect(.alreadyExists) {
      try store.rename(
        .genericPassword(service: "test", account: "a"),
        to: .genericPassword(service: "test", account: ""))
    }
    try store.remove(.genericPassword(service: "test", account: "a"))
    #expect(try store.text("a") == "Python's")
    #expect(try desktop.itemCount() == 2)
  }

  @Test func severalItemsOfOthersAreAmbiguous() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    try desktop.write("one", ["service", "test", "username", "a", "application", "one"])
    try desktop.write("two", ["service", "test", "username", "a", "application", "two"])
    expect(.ambiguous) { _ = try store.text("a") }
    expect(.ambiguous) {
      try store.remove(.genericPassword(service: "test", account: "a"))
    }
    // The names that other programs use for an account are as good as each other.
    try desktop.write("three", ["service", "test", "username", "b"])
    #expect(try store.text("b") == "three")
    try desktop.write("four", ["service", "test", "account", "b"])
    expect(.ambiguous) { _ = try store.text("b") }
    #expect(try desktop.itemCount() == 4)
    try store.put("a", "ours")
    #expect(try store.text("a") == "ours")
  }

  @Test func anItemOfAnotherProgramIsNotChanged() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    try desktop.write("theirs", ["service", "test", "username", "a"])
    let identity = CredentialIdentity.genericPassword(service: "test", account: "a")
    expect(.refused) { try store.update(identity, with: CredentialUpdate(label: .set("L"))) }
    expect(.refused) {
      try store.rename(identity, to: .genericPassword(service: "test", account: "b"))
    }
    expect(.alreadyExists) {
      try store.set(Credential(identity), secret: SecretBytes(copying: "x"), mode: .addOnly)
    }
    #expect(try store.text("a") == "theirs")
    expect(.refused) { try store.remove(identity) }
    #expect(try desktop.itemCount() == 1)
    #expect(try store.remove(identity, expectedVersion: nil, includingOtherPrograms: true))
    #expect(try desktop.itemCount() == 0)
  }

  @Test func unreadableOwnItemIsNotAbsent() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let names = ["service", "test", "username", "a", "account", "a"]
    for (record, code) in [
      ("{}", KeychainError.Code.damaged), (#"{"format":2}"#, .unsupportedFormat),
    ] {
      try desktop.write("x", names + [ItemAttributes.recordName, record])
      expect(code) { _ = try desktop.store().text("a") }
      expect(code) { try desktop.store().put("a", "new") }
      #expect(try desktop.store().search(CredentialQuery()).damaged.count == 1)
      try desktop.run("secret-tool", "clear", "service", "test")
    }
  }

  // On restart, gnome-keyring drops a text keyring in which a value contains a line break.
  @Test func aKeyringWithoutPasswordSurvives() throws {
    let desktop = try Desktop(.gnomeKeyringWithoutPassword)
    let texts = [
      "plain", "two\nlines\n", "a\0b", #"back\slash \n \s"#, " leading", "trailing ", "tab\tx",
      "ünï",
      "{USERNAME}", #"{"json": "\u0000"}"#, StoredText.prefix + "QQ==", "#", "[x]", "a=b", "",
    ]
    for text in texts {
      try desktop.store().set(
        Credential(
          .genericPassword(service: text, account: text, accessGroup: text), label: text,
          comment: text, contentType: text, attributes: ["name": text]),
        secret: SecretBytes(copying: text))
    }
    kill(desktop.providerProcess, SIGKILL)
    desktop.waitForEndOfProvider()
    let again = try desktop.startGnomeKeyring(password: nil)
    defer { again.end() }
    for text in texts {
      #expect(try desktop.store().text(text, service: text, group: text) == text)
      let credential = try desktop.store().credential(
        for: .genericPassword(service: text, account: text, accessGroup: text))
      #expect(credential?.label == text && credential?.comment == text)
      #expect(credential?.attributes == ["name": text])
    }
    #expect(try desktop.read("service", "plain") == "plain")
  }
}

extension CredentialQuery {
  /// Creates a query with all names of an identity.
  fileprivate init(_ identity: CredentialIdentity) {
    switch identity.kind {
    case .genericPassword(let service, let account):
      self.init(accessGroup: "", service: service, account: account)
    case .internetPassword(let password):
      self.init(
        server: password.server, protocol: password.protocol, port: password.port,
        path: password.path, account: password.account)
    }
  }
}

extension Desktop {
  func write(_ secret: String, _ attributes: [String]) throws {
    let process = try run(
      "sh", ["-c", #"exec secret-tool store --label="$0" "$@""#, secret] + attributes, input: secret
    )
    #expect(process.status == 0)
  }

  func read(_ attributes: String...) throws -> String? {
    let answer = try run("secret-tool", ["lookup"] + attributes)
    return answer.status == 0 ? String(decoding: answer.output, as: UTF8.self) : nil
  }

  func itemCount() throws -> Int {
    let answer = try run(
      "dbus-send", "--print-reply", "--dest=org.freedesktop.secrets",
      "/org/freedesktop/secrets/aliases/default", "org.freedesktop.DBus.Properties.Get",
      "string:org.freedesktop.Secret.Collection", "string:Items")
    return String(decoding: answer.output, as: UTF8.self)
      .split(separator: "\n").count { $0.contains("object path") }
  }
}
