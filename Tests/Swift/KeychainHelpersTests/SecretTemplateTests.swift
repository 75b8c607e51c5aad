import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainHelpers

@Suite("Templates")
struct SecretTemplateTests {
  private let store = InMemoryCredentialStore()

  private func filled(_ text: String, allowing services: [String] = []) throws -> String? {
    let secrets = ["a": "one", "braces": "{{ keychain://s/a }}", "quote": "a\"b\n"]
    for (account, secret) in secrets {
      try store.store(
        Credential(.genericPassword(service: "s", account: account)),
        secret: SecretBytes(copying: secret))
    }
    let resolver = ReferenceResolver(store: store, defaultService: "s")
    let allowance = ReferenceAllowance(services: services, defaultService: "s")
    return try SecretTemplate(Array(text.utf8)).fill(with: resolver, allowing: allowance)
      .withBytes { $0.text }
  }

  @Test(arguments: [
    ("", ""), ("{ a } }} {x}", "{ a } }} {x}"), ("{{keychain:///a}}", "one"),
    ("x={{ keychain://s/a }};{{\tkeychain://s/a?field=username }}\n", "x=one;a\n"),
    ("{{ \"{{\" }} x }}", "{{ x }}"), ("{{\"{{\"}}", "{{"), ("{", "{"),
    ("{{ keychain://s/no?optional }}", ""), ("[{{ keychain://s/quote }}]", "[a\"b\n]"),
  ])
  func markersAreReplaced(text: String, expected: String) throws {
    #expect(try filled(text) == expected)
  }

  @Test func aSecretIsNotReadAsATemplate() throws {
    #expect(try filled("{{ keychain://s/braces }}") == "{{ keychain://s/a }}")
  }

  @Test func otherBytesStayAsTheyAre() throws {
    let bytes: [UInt8] = [0, 0xFF, 0x7B, 0x0D, 0x0A, 0xC3]
    let resolver = ReferenceResolver(store: store, defaultService: "s")
    let filled = try SecretTemplate(bytes).fill(
      with: resolver, allowing: ReferenceAllowance(services: [], defaultService: "s"))
    #expect(filled.withBytes { $0.array } == bytes)
  }

  @Test(arguments: [
    "{{", "{{ }}", "{{ .Values.x }}", "{{ keychian://s/a }}", "{{ keychain://s/a }",
    "{{{ keychain://s/a }}}",
    "{{ keychain://s/a\n}}", "{{ \"{\" }}", "{{{{",
  ])
  func bracesThatBeginNoReferenceAreAnError(text: String) {
    let failure = #expect(throws: KeychainError.self) { try filled("ü\nüü\(text)") }
    #expect(failure?.code == .undecodable)
    #expect(failure?.message.hasPrefix("line 2, column 3: ") == true)
  }

  @Test func aWrongReferenceIsNamedByItsPlaceOnly() {
    let failure = #expect(throws: KeychainError.self) { try filled("{{ keychain:hunter2 }}") }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message.hasPrefix("line 1, column 1: ") == true)
    #expect(failure?.message.contains("hunter2") == false)
  }

  @Test func whatIsNotAllowedIsRefusedBeforeAnythingIsRead() {
    let failure = #expect(throws: KeychainError.self) {
      try filled("{{ keychain://s/nobody }}\n{{ keychain://t/a }}", allowing: ["s"])
    }
    #expect(failure?.code == .refused)
    #expect(failure?.message.hasPrefix("line 2, column 1: ") == true)
  }

  @Test func aMissingCredentialIsNamedByItsPlace() {
    let failure = #expect(throws: KeychainError.self) { try filled(" {{ keychain://s/nobody }}") }
    #expect(failure?.code == .notFound)
    #expect(failure?.message.hasPrefix("line 1, column 2: ") == true)
  }
}
