import KeychainCredentials
import KeychainHelpers
import KeychainSecrets
import Testing

@Suite("What git sends")
struct GitCredentialRequestTests {
  @Test func lastOfRepeatedKeysCounts() throws {
    let request = try GitCredentialRequest.text("protocol=http\nprotocol=https\nhost=h\n")
    #expect(request.protocol == "https" && request.host == "h" && request.path == nil)
  }

  @Test func emptyLineEndsIt() throws {
    let request = try GitCredentialRequest.text("protocol=https\n\nhost=later\n")
    #expect(request.host == nil)
  }

  @Test func emptyProtocolAndHostAreMissingAndAnEmptyUserIsNot() throws {
    let request = try GitCredentialRequest.text("protocol=\nhost=\nusername=\npath=\n")
    #expect(request.protocol == nil && request.host == nil)
    #expect(request.username == "" && request.path == "")
  }

  @Test func emptyCapabilityEmptiesTheList() throws {
    #expect(
      try GitCredentialRequest.text("capability[]=authtype").understandsAuthenticationTypes)
    let emptied = try GitCredentialRequest.text("capability[]=authtype\ncapability[]=\n")
    #expect(!emptied.understandsAuthenticationTypes)
  }

  @Test func unknownKeysAndListsAreIgnored() throws {
    let request = try GitCredentialRequest.text(
      "colour=red\nstate[]=other:1\nwwwauth[]=Basic realm=\"a=b\"\nusername=a=b\n")
    #expect(request.username == "a=b")
  }

  @Test(arguments: [
    "protocol=https\nnonsense\n", "=value\n", "host=a\rb\n", "password=a\0b\n", "username=x\r\n",
    "host=" + String(repeating: "h", count: 65_536),
  ])
  func refusedLinesAreNotRepeatedInTheMessage(_ lines: String) throws {
    let failure = #expect(throws: KeychainError.self) { try GitCredentialRequest.text(lines) }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.description.contains("nonsense") == false)
  }

  @Test func longLinesUpToTheLimitAreTaken() throws {
    let name = String(repeating: "n", count: 65_535 - "username=".utf8.count)
    #expect(try GitCredentialRequest.text("username=\(name)").username == name)
  }

  @Test(arguments: ["", "0", "-1", "x", "99999999999999999999", "1e9"])
  func invalidExpiryIsIgnored(_ text: String) throws {
    #expect(try GitCredentialRequest.text("password_expiry_utc=\(text)").expires == nil)
  }
}
