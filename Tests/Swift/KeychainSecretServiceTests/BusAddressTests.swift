import Testing

@testable import KeychainSecretService

struct BusAddressTests {
  /// The escapes of the D-Bus specification.
  @Test(arguments: [
    ("unix:path=/run/user/1000/bus", "/run/user/1000/bus"),
    ("unix:path=/run/a%20b%2Fc", "/run/a b/c"),
    ("unix:path=/run/%c3%A4", "/run/ä"),
    ("unix:guid=12%20,path=/run/bus", "/run/bus"),
    ("tcp:host=a;unix:path=%2frun", "/run"),
  ])
  func escapesOfAnAddress(_ text: String, _ path: String) {
    #expect(BusAddress.parse(text) == .path(path))
  }

  /// Neither a cut or wrong escape nor bytes that are no text become another path.
  @Test(arguments: ["%", "%2", "/run/%2", "%zz", "%+2", "% 2", "%%20", "%ff", "%c3", "/%c3%28"])
  func malformedEscapes(_ value: String) {
    #expect(BusAddress.parse("unix:path=\(value)") == nil)
    #expect(BusAddress.parse("unix:path=\(value);unix:abstract=%2a") == .abstract("*"))
  }
}
