internal import Foundation
internal import Keychain
internal import Testing

@Suite("What other programs see, and what they stored")
struct StoredFormTests {
  private struct Hidden: Codable, Equatable { var a = 1 }

  @Test func textAndNumbersAreReadable() throws {
    let keychain = preferences()
    let cases: [(Any, String, String)] = [
      ("caf\u{E9}\n", "caf\u{E9}\n", "text/plain; charset=utf-8"),
      (42, "42", "text/plain; charset=utf-8; type=Int"),
      (true, "true", "text/plain; charset=utf-8; type=Bool"),
      (Data("raw".utf8), "raw", "application/octet-stream"),
      (URL(fileURLWithPath: "/a"), "file:///a", "text/plain; charset=utf-8; type=URL"),
      ([1, 2], "[1,2]", "application/json; type=Array"),
      (["a": "b"], #"{"a":"b"}"#, "application/json; type=Dictionary"),
    ]
    for (value, text, contentType) in cases {
      try keychain.set(value, for: "k")
      #expect(try keychain.string(for: "k") == text)
      #expect(try keychain.data(for: "k") == Data(text.utf8))
      #expect(try keychain.credential(for: "k")?.contentType == contentType)
    }
  }

  @Test func bytesWithoutContentTypeAreTextIfValid() throws {
    let store = InMemoryCredentialStore()
    let keychain = preferences(store)
    for contentType in [nil, "text/plain", "something/else; type=Int8x"] as [String?] {
      let credential = Credential(keychain.identity(for: "k"), contentType: contentType)
      try store.set(credential, secret: SecretBytes(copying: "text\n"))
      #expect(keychain["k"] as? String == "text\n")
      try store.set(
        credential, secret: SecretBytes(copying: ([0xFF, 0x00] as [UInt8]).span.bytes))
      #expect(keychain["k"] as? Data == Data([0xFF, 0]))
      #expect(throws: KeychainError.self) { try keychain.string(for: "k") }
      #expect(keychain.string(forKey: "k") == nil && keychain.lastStatus == errSecDecode)
      #expect(try keychain.data(for: "k") == Data([0xFF, 0]))
    }
  }

  @Test func bytesThatContradictContentTypeFail() throws {
    let store = InMemoryCredentialStore()
    let keychain = preferences(store)
    let accountType = try #require(_mangledTypeName(Account.self))
    for contentType in [
      "text/plain; type=Int", "application/json; type=Array", "text/plain; type=Date",
      "application/json; type=\(accountType)",
    ] {
      let credential = Credential(keychain.identity(for: "k"), contentType: contentType)
      try store.set(credential, secret: SecretBytes(copying: "not that"))
      let error = #expect(throws: KeychainError.self) { try keychain.value(for: "k") }
      #expect(error?.code == .undecodable)
      #expect(error?.description.contains("not that") == false)
      #expect(keychain["k"] == nil && keychain.lastError?.code == .undecodable)
      #expect(try keychain.string(for: "k") == "not that")
    }
  }

  @Test func typesThatCannotBeFoundAreTheirJSON() throws {
    let store = InMemoryCredentialStore()
    let keychain = preferences(store)
    try keychain.set(Hidden(), for: "k")
    #expect(keychain["k"] as? Data == Data(#"{"a":1}"#.utf8))
    #expect(try keychain.value(Hidden.self, for: "k") == Hidden())
    try keychain.set([Hidden()], for: "k")
    #expect(try keychain.value([Hidden].self, for: "k") == [Hidden()])
    let names = [
      "4none4TypeV", "", "\u{1}\u{2}\u{3}\u{4}\u{5}", "Si; x", String(repeating: "S", count: 5000),
    ]
    for name in names {
      let credential = Credential(
        keychain.identity(for: "k"), contentType: "application/json; type=\(name)")
      try store.set(credential, secret: SecretBytes(copying: "{}"))
      #expect(keychain["k"] as? Data == Data("{}".utf8) || keychain.lastError?.code == .undecodable)
    }
  }

  @Test func valuesAreReadAsRequestedType() throws {
    let keychain = preferences()
    try keychain.set("42", for: "text")
    try keychain.set([1, 2], for: "array")
    try keychain.set(["a": 1], for: "object")
    try keychain.set(Account(), for: "account")
    #expect(try keychain.value(Int.self, for: "text") == 42)
    #expect(try keychain.value(String.self, for: "text") == "42")
    #expect(try keychain.value(Data.self, for: "text") == Data("42".utf8))
    #expect(try keychain.value([Double].self, for: "array") == [1, 2])
    #expect(try keychain.value(Hidden.self, for: "object") == Hidden())
    #expect(try keychain.value(Account.self, for: "account") == Account())
    #expect(try keychain.value(Int.self, for: "absent") == nil)
    #expect(throws: KeychainError.self) { try keychain.value(Int.self, for: "array") }
    #expect(throws: KeychainError.self) { try keychain.value(Account.self, for: "text") }
  }
}
