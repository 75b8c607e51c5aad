import PrephirencesEtcd
import Testing

@Suite struct AddressTests {
  @Test func endpointsAndPrefixAreRead() throws {
    let address = try EtcdAddress("etcd+https://a:2380,b.example,[::1]:1,10.0.0.1/fleet/caf%C3%A9")
    #expect(address.usesTLS)
    #expect(address.endpoints.map(\.host) == ["a", "b.example", "::1", "10.0.0.1"])
    #expect(address.endpoints.map(\.port) == [2380, 2379, 1, 2379])
    #expect(address.prefix == "fleet/café")
    #expect(try EtcdAddress("etcd+https:///p").endpoints.isEmpty)
    #expect(try EtcdAddress("etcd+https://a").prefix == "")
    #expect(try EtcdAddress("etcd+https://a/").prefix == "")
  }

  @Test(arguments: [
    "127.0.0.1:2379", "localhost", "[::1]:2379", "127.9.9.9", "127.0.0.1,[::1]",
  ])
  func withoutTLSLoopbackAloneIsAllowed(_ hosts: String) throws {
    #expect(try !EtcdAddress("etcd+http://\(hosts)/p").usesTLS)
  }

  @Test(arguments: [
    "", "etcd", "https://a", "etcd+ftp://a", "etcd+http://10.0.0.1/p", "etcd+http://127.0.0.1,b/p",
    "etcd+http://127.0.0.1.example/p", "etcd+http://localhost.example", "etcd+http://127.1",
    "etcd+https://user@a/p", "etcd+https://user:word@a/p", "etcd+https://a/p?x=1",
    "etcd+https://a/p#x", "etcd+https://a:0/p", "etcd+https://a:65536", "etcd+https://a:",
    "etcd+https://a:x",
    "etcd+https://a:+1", "etcd+https://a,,b", "etcd+https://,a", "etcd+https://[::1",
    "etcd+https://[a]",
    "etcd+https://::1", "etcd+https://[::1]x", "etcd+https://a b", "etcd+https://a\r\nb",
    "etcd+https://a/%FF", "etcd+https://a/%4", "etcd+https://a/%00", "etcd+https://ä/p",
  ])
  func otherAddressesAreRefused(_ text: String) {
    let error = #expect(throws: EtcdError.self) { try EtcdAddress(text) }
    #expect(error?.code == .invalidAddress)
  }

  @Test func aPasswordIsNotRepeated() {
    let error = #expect(throws: EtcdError.self) { try EtcdAddress("etcd+https://user:secret@a/p") }
    #expect(error?.message.contains("secret") == false)
  }
}
