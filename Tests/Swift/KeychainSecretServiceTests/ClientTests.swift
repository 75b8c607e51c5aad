import Foundation
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainSecretService

/// Tests with other programs, in both directions.
@Suite("Real clients of the Secret Service", .timeLimit(.minutes(10)))
struct ClientTests {
  private static let providers = [Desktop.Provider.gnomeKeyring, .keePassXC]
  private let text = "s3cr3t \u{1F511} with spaces"

  private func store(_ desktop: Desktop) -> SecretServiceStore {
    desktop.store { $0.interaction = .allowed }
  }

  @Test(arguments: providers)
  func pythonKeyring(_ provider: Desktop.Provider) throws {
    let desktop = try Desktop(provider)
    let store = store(desktop)
    for backend in PythonClient.keyringBackends {
      try PythonClient.keyringSet.run(desktop, backend, backend, "me", input: text)
      #expect(try store.text("me", service: backend) == text, "\(backend)")
      let found = try store.search(CredentialQuery(service: backend)).credentials
      #expect(found.map(\.identity) == [.genericPassword(service: backend, account: "me")])
    }
    try store.put("ours", text)
    let backend = PythonClient.keyringBackends[0]
    #expect(try PythonClient.keyringGet.run(desktop, backend, "test", "ours") == text)
    // It searches by its own schema and application, so it finds only its own items.
    let strict = PythonClient.keyringBackends[1]
    #expect(try PythonClient.keyringGet.run(desktop, strict, "test", "ours") == "None")
  }

  @Test(arguments: providers)
  func pythonSecretStorage(_ provider: Desktop.Provider) throws {
    let desktop = try Desktop(provider)
    let store = store(desktop)
    try PythonClient.storageSet.run(desktop, "theirs", "me", input: text)
    #expect(try store.text("me", service: "theirs") == text)
    try store.put("ours", text)
    #expect(try PythonClient.storageGet.run(desktop, "test", "ours") == text)
  }

  @Test(arguments: providers)
  func secretTool(_ provider: Desktop.Provider) throws {
    let desktop = try Desktop(provider)
    let store = store(desktop)
    // The attributes that keytar and Go's keyring write.
    for (name, attributes) in [
      ("keytar", ["service", "keytar", "account", "me"]),
      ("go", ["service", "go", "username", "me"]),
    ] {
      try desktop.write(text, attributes)
      #expect(try store.text("me", service: name) == text)
      try store.put(name, text)
    }
    #expect(try desktop.read("service", "test", "account", "keytar") == text)
    #expect(try desktop.read("service", "test", "username", "go") == text)
  }

  @Test func dockerHelper() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = store(desktop)
    let server = "https://index.docker.io/v1/"
    let helper = "docker-credential-secretservice"
    let given = #"{"ServerURL":"\#(server)","Username":"me","Secret":"\#(text)"}"#
    #expect(try desktop.run(helper, ["store"], input: given).status == 0)
    let identity = CredentialIdentity(
      .internetPassword(InternetPassword(server: server, account: "me")))
    #expect(try store.text(identity) == text)
    #expect(try store.search(CredentialQuery(server: server)).credentials.count == 1)
    // It searches by its own schema: our item coexists with its item, and neither program changes
    // the other's.
    try store.set(Credential(identity), secret: SecretBytes(copying: "ours"))
    let got = try desktop.run(helper, ["get"], input: server)
    #expect(String(decoding: got.output, as: UTF8.self).contains(text))
    #expect(try desktop.run(helper, ["erase"], input: server).status == 0)
    #expect(try desktop.run(helper, ["get"], input: server).status == 1)
    #expect(try store.text(identity) == "ours")
  }

  @Test(arguments: providers)
  func gitHelper(_ provider: Desktop.Provider) throws {
    let desktop = try Desktop(provider)
    let store = store(desktop)
    let helper = try Self.buildGitHelper(desktop)
    let place = "protocol=https\nhost=example.org:8443\npath=repo\n"
    let stored = try desktop.run(
      helper, ["store"], input: place + "username=me\npassword=\(text)\n")
    #expect(stored.status == 0)
    var password = InternetPassword(
      server: "example.org", protocol: "https", port: 8443, path: "repo", account: "me")
    #expect(try store.text(CredentialIdentity(.internetPassword(password))) == text)
    password.server = "ours.example"
    try store.set(
      Credential(CredentialIdentity(.internetPassword(password)), label: "mine"),
      secret: SecretBytes(copying: text))
    let question = "protocol=https\nhost=ours.example:8443\npath=repo\nusername=me\n"
    let answer = try desktop.run(helper, ["get"], input: question)
    let found = String(decoding: answer.output, as: UTF8.self).contains("password=\(text)\n")
    let ignoresSchemas = try Self.ignoresSchemas(helper)
    #expect(found == ignoresSchemas)
    guard !ignoresSchemas else { return }
    // A helper that searches by its own schema does not take our item for its own.
    for action in ["store", "erase"] {
      try desktop.run(helper, [action], input: question + "password=another\n")
      let kept = try store.credential(for: CredentialIdentity(.internetPassword(password)))
      #expect(kept?.label == "mine", "\(action)")
    }
    #expect(try store.text(CredentialIdentity(.internetPassword(password))) == text)
  }

  private static func ignoresSchemas(_ helper: String) throws -> Bool {
    try String(contentsOfFile: helper + ".c", encoding: .utf8)
      .contains("SECRET_SCHEMA_DONT_MATCH_NAME")
  }

  /// Builds git's helper from the sources in git's package, and returns its path.
  private static func buildGitHelper(_ desktop: Desktop) throws -> String {
    let sources = "/usr/share/doc/git/contrib/credential/libsecret"
    try #require(
      FileManager.default.fileExists(atPath: sources), "git's package lacks its credential helpers")
    let folder = try #require(desktop.environment["HOME"]) + "/git-helper"
    try desktop.run("cp", "-R", sources, folder)
    let made = try desktop.run("make", "-s", "-C", folder, "CC=clang")
    try #require(made.status == 0)
    return folder + "/git-credential-libsecret"
  }
}

/// A short Python program, which receives names as arguments, and a secret on standard input.
private struct PythonClient {
  let program: String

  static let keyringBackends = ["SecretService", "libsecret"]

  static let keyringSet = PythonClient(
    program: keyring + "b.set_password(a[2], a[3], sys.stdin.read())")
  static let keyringGet = PythonClient(
    program: keyring + "print(b.get_password(a[2], a[3]), end='')")
  static let storageSet = PythonClient(
    program: storage
      + "c.create_item('x', {'service': a[1], 'username': a[2]}, sys.stdin.buffer.read())")
  static let storageGet = PythonClient(
    program: storage
      + "i = list(c.search_items({'service': a[1], 'username': a[2]}))\n"
      + "sys.stdout.buffer.write(i[0].get_secret())")

  private static let keyring = """
    import importlib, sys
    a = sys.argv
    b = importlib.import_module('keyring.backends.' + a[1]).Keyring()

    """
  private static let storage = """
    import secretstorage, sys
    a = sys.argv
    c = secretstorage.get_default_collection(secretstorage.dbus_init())

    """

  /// Runs it with the system's Python, which has the libraries' bindings.
  @discardableResult
  func run(_ desktop: Desktop, _ arguments: String..., input: String = "") throws -> String {
    let answer = try desktop.run(
      "/usr/bin/python3", ["-I", "-c", program] + arguments, input: input)
    try #require(answer.status == 0)
    return String(decoding: answer.output, as: UTF8.self)
  }
}
