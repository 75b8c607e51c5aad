import KeychainHelpers
import Testing

struct ServerOriginTests {
  @Test func comparesWithoutRegardToASCIICase() {
    #expect(
      ServerOrigin(protocol: "HTTPS", host: "Git.Example.COM")
        == ServerOrigin(protocol: "https", host: "git.example.com"))
  }

  @Test(arguments: [
    ServerOrigin(protocol: "http", host: "example.com"),
    ServerOrigin(protocol: "https", host: "example.com."),
    ServerOrigin(protocol: "https", host: "www.example.com"),
    ServerOrigin(protocol: "https", host: "example.com", port: 8443),
    // A Kelvin sign, whose Unicode lower case is a Latin letter.
    ServerOrigin(protocol: "https", host: "example.co\u{212A}"),
  ])
  func distinguishesEverythingElse(_ other: ServerOrigin) {
    #expect(ServerOrigin(protocol: "https", host: "example.com") != other)
    #expect(ServerOrigin(protocol: "https", host: "example.cok") != other)
  }

  @Test func usualPortIsTheSameAsNone() {
    let plain = ServerOrigin(protocol: "https", host: "example.com")
    #expect(ServerOrigin(protocol: "https", host: "example.com", port: 443) == plain)
    #expect(ServerOrigin(protocol: "https", host: "example.com", port: 0) == plain)
    #expect(ServerOrigin(protocol: "http", host: "example.com", port: 443).port == 443)
  }

  @Test func addressIsTheSameWithAndWithoutBrackets() {
    let origin = ServerOrigin(protocol: "https", host: "2001:DB8::A")
    #expect(origin == ServerOrigin(protocol: "https", host: "[2001:db8::a]"))
    #expect(origin.host == "[2001:db8::a]")
  }

  @Test func comparesBytes() {
    #expect(
      ServerOrigin(protocol: "https", host: "caf\u{E9}")
        != ServerOrigin(protocol: "https", host: "cafe\u{301}"))
  }
}
