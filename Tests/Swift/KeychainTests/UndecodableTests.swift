internal import Foundation
internal import Keychain
internal import Testing

@Suite("Errors of values that cannot be read")
struct UndecodableTests {
  enum Scope: String, Codable { case read }

  struct Token: Codable {
    var access: String
    var count: Int
    var scopes: [Scope] = [.read]
    var expires = Date(timeIntervalSince1970: 0)
    var parts: [String: [Part]] = [:]
    var byNumber: [Int: Int] = [:]
  }

  struct Part: Codable, Sendable {
    var name: String
  }

  /// Values that errors must not show are marked in the JSON.
  @Test(arguments: [
    (#"{"access":"SECRET"}"#, "there is no field 'count'"),
    (#"{"access":"SECRET","count":"SECRET"}"#, "the field 'count' is no Int"),
    (#"{"access":null,"count":1}"#, "the field 'access' has no value"),
    (
      #"{"access":"SECRET","count":1,"scopes":["read","SECRET"]}"#,
      "the field 'scopes[1]' has a value that its type does not take"
    ),
    (
      #"{"access":"","count":1,"scopes":[],"expires":"SECRET"}"#,
      "the field 'expires' has a value that its type does not take"
    ),
    (
      #"{"access":"","count":1,"scopes":[],"expires":0,"parts":{"SECRET":[{"name":""},{}]}}"#,
      "there is no field 'parts[…][1].name'"
    ),
    (
      #"{"access":"","count":1,"scopes":[],"expires":0,"parts":{},"byNumber":{"4242":"SECRET"}}"#,
      "the field 'byNumber[…]' is no Int"
    ),
    (#"{"access":"SECRET"#, "it is not valid JSON, or not what the type takes"),
  ])
  func nameTheKeyAndTheField(_ json: String, _ reason: String) throws {
    let keychain = preferences()
    try keychain.set(SecretBytes(copying: json), for: "api")
    let error = #expect(throws: KeychainError.self) { try keychain.value(Token.self, for: "api") }
    #expect(error?.code == .undecodable)
    #expect(
      error?.message
        == "the value of 'api' of service 'tests' cannot be read as the type Token: \(reason)")
    #expect(error?.description.contains("SECRET") == false)
    #expect(error?.description.contains("4242") == false)
  }

  @Test func errorNamesKeyOfScalarAndText() throws {
    let store = InMemoryCredentialStore()
    let keychain = preferences(store)
    let credential = Credential(keychain.identity(for: "api"), contentType: "text/plain; type=Int")
    try store.set(credential, secret: SecretBytes(copying: "SECRET"))
    let scalar = #expect(throws: KeychainError.self) { try keychain.value(for: "api") }
    #expect(
      scalar?.message == "the value of 'api' of service 'tests' cannot be read as the type Int")
    try keychain.set(Data([0xFF]), for: "api")
    let text = #expect(throws: KeychainError.self) { try keychain.string(for: "api") }
    #expect(text?.message == "the value of 'api' of service 'tests' is not UTF-8 text")
  }

  /// Every call that reads a typed value names the credential in its error.
  @Test func nameTheKeyWhicheverCallReads() async throws {
    let keychain = preferences()
    try keychain.set("SECRET", for: "api")
    func check(
      sourceLocation: SourceLocation = #_sourceLocation, _ read: () async throws -> Int?
    ) async {
      let error = await #expect(throws: KeychainError.self, sourceLocation: sourceLocation) {
        _ = try await read()
      }
      #expect(error?.code == .undecodable, sourceLocation: sourceLocation)
      #expect(
        error?.message.hasPrefix(
          "the value of 'api' of service 'tests' cannot be read as the type Int") == true,
        sourceLocation: sourceLocation)
    }
    await check { try keychain.value(Int.self, for: "api") }
    await check { try keychain.value(Int.self, for: "api", allowingExpired: true) }
    await check { try keychain.update(Int.self, for: "api") { $0 = 1 } }
    await check {
      try await keychain.value(Int.self, for: "api", validWhile: { _ in true }) { _ in 1 }
    }
    await check {
      try blocking {
        try keychain.waitForValue(Int.self, for: "api", validWhile: { _ in true }) { _ in 1 }
      }
    }
  }

  /// The type names in stored values are not fields of the value.
  @Test func nameNothingOfTheStoredForm() throws {
    let store = InMemoryCredentialStore()
    let keychain = preferences(store)
    let credential = Credential(
      keychain.identity(for: "k"), contentType: "application/json; type=Dictionary")
    try store.set(
      credential,
      secret: SecretBytes(copying: ##"{"SECRET":{"$type":"Int","$value":["SECRET"]}}"##))
    let error = #expect(throws: KeychainError.self) { try keychain.value(for: "k") }
    #expect(error?.description.contains("SECRET") == false)
    #expect(error?.description.contains("$value") == false)
  }
}
