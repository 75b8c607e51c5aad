import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainHelpers

@Suite("What docker and its helpers exchange")
struct DockerCredentialTests {
  @Test(arguments: [
    (#"{"ServerURL":"r","Username":"u","Secret":"p"}"#, "p"),
    ("\t{ \"Secret\" : \"p\" ,\r\n\"Username\":\"u\", \"ServerURL\":\"r\" }\n", "p"),
    (#"{"ServerURL":"r","Username":"u","Secret":"a","Secret":"b"}"#, "b"),
    (
      #"{"ServerURL":"r","Username":"u","Secret":"\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00"}"#,
      "\"\\/\u{8}\u{C}\n\r\té😀"
    ),
    (
      #"{"x":[1,-0.5e+3,true,false,null,{"Secret":"no"},[]],"ServerURL":"r","Username":"u","Secret":"é😀"}"#,
      "é😀"
    ),
    (#"{"Secret":"\u0000","ServerURL":"r","Username":"u","":{}}"#, "\0"),
    (#"{"ServerURL":"r","Username":"u"}"#, ""),
    (#"{"secret":"no","ServerURL":"r","Username":"u","Secret":"p"}"#, "p"),
  ])
  func anObjectIsRead(json: String, secret: String) throws {
    let login = try DockerCredential(json: SecretBytes(copying: json))
    #expect(login.server == "r")
    #expect(login.username == "u")
    #expect(login.secret.text == secret)
  }

  @Test(arguments: [
    "", " ", "x", "[]", "\"\"", "{", "{}x", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
    "{\"a\":1 \"b\":2}", "{a:1}",
    "{'a':1}", "{\"Secret\":null}", "{\"Secret\":1}", "{\"Secret\":[\"a\"]}", "{\"Secret\":\"a}",
    "{\"Secret\":\"\\x\"}", "{\"Secret\":\"\\u12\"}", "{\"Secret\":\"\\u12g4\"}",
    "{\"Secret\":\"\\ud83d\"}", "{\"Secret\":\"\\ud83dx\"}", "{\"Secret\":\"\\ude00\"}",
    "{\"Secret\":\"\\ud83d\\ud83d\"}", "{\"Secret\":\"\n\"}", "{\"Secret\":\"\u{1}\"}",
    "{\"Secret\":\"\\",
    "{\"x\":tru}", "{\"x\":01}", "{\"x\":1.}", "{\"x\":.5}", "{\"x\":+1}", "{\"x\":1e}",
    "{\"x\":NaN}",
    "{\"x\":[1,]}", "{\"x\":\"\\uＡ000\"}",
    "{\"x\":" + String(repeating: "[", count: 70) + String(repeating: "]", count: 70) + "}",
  ])
  func invalidJSONIsRefused(json: String) throws {
    let error = try #require(throws: KeychainError.self) {
      _ = try DockerCredential(json: SecretBytes(copying: json))
    }
    #expect(error.code == .invalidArgument)
  }

  @Test func invalidTextIsRefused() throws {
    let json = Array(#"{"Secret":"#.utf8) + [0x22, 0xFF, 0x22, 0x7D]
    #expect(throws: KeychainError.self) {
      _ = try DockerCredential(json: SecretBytes(copying: json.span.bytes))
    }
  }

  @Test func anErrorDoesNotRepeatTheSecret() throws {
    let error = try #require(throws: KeychainError.self) {
      _ = try DockerCredential(json: SecretBytes(copying: #"{"Secret":"hunter2",hunter2}"#))
    }
    #expect(!"\(error)".contains("hunter2"))
  }

  @Test func aLoginIsWritten() throws {
    let secret = "a\"b\\c\nd\u{1}\u{7F}é😀/"
    let login = DockerCredential(
      server: "r\"", username: "<token>", secret: try SecretBytes(copying: secret))
    let json = try login.json()
    #expect(
      json.text
        == "{\"ServerURL\":\"r\\\"\",\"Username\":\"<token>\",\"Secret\":\"a\\\"b\\\\c\\u000Ad\\u0001\\u007Fé😀/\"}\n"
    )
    let again = try DockerCredential(json: json)
    #expect(again.secret.text == secret)
  }

  @Test func binarySecretIsAnError() throws {
    let bytes: [UInt8] = [0x61, 0xFF]
    let login = DockerCredential(
      server: "r", username: "u", secret: try SecretBytes(copying: bytes.span.bytes))
    let error = try #require(throws: KeychainError.self) { _ = try login.json() }
    #expect(error.code == .undecodable)
  }

  @Test func aListIsAnObject() throws {
    let empty = try DockerCredentialHelper.json([])
    #expect(empty.text == "{}\n")
    let list = try DockerCredentialHelper.json([("a", "x"), ("b\"", "<token>")])
    #expect(list.text == "{\"a\":\"x\",\"b\\\"\":\"<token>\"}\n")
  }

  @Test(arguments: ["r", " r", "r\n", "\t r \r\n"])
  func whiteSpaceAroundARequestIsIgnored(request: String) throws {
    #expect(try DockerCredentialHelper.server(in: SecretBytes(copying: request)) == "r")
  }

  @Test(arguments: ["", " ", "\n\n"])
  func aRequestWithoutARegistryHasItsText(request: String) throws {
    let error = try #require(throws: KeychainError.self) {
      _ = try DockerCredentialHelper.server(in: SecretBytes(copying: request))
    }
    #expect(DockerCredentialHelper.text(for: error) == "no credentials server URL")
  }

  @Test func anotherFailureIsShownOnOneLine() {
    let failure = KeychainError(.locked, "the vault\nis locked")
    #expect(!DockerCredentialHelper.text(for: failure).contains("\n"))
  }
}
