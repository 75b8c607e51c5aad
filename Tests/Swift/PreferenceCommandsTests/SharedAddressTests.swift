import Prephirences
import Testing

@testable import PreferenceCommands

@Suite("Addresses of shared stores")
struct SharedAddressTests {
  @Test(arguments: [
    ("etcd+https://a:2379/x", "etcd+https://a/x/"), ("etcd+https://a,b/x", "etcd+https://b,c/x"),
    ("etcd+https:///x", "etcd+https:///x"),
    ("etcd+http://127.0.0.1/x", "etcd+http://127.0.0.1:2379/x"),
  ])
  func theyAreTheSamePlace(one: String, other: String) throws {
    let (one, other) = (try SharedAddress(one), try SharedAddress(other))
    #expect(one.isSameEngine(as: other) && one.prefix == other.prefix)
  }

  @Test(arguments: [
    ("etcd+https://a/x", "etcd+https://b/x"), ("etcd+https:///x", "etcd+https://a/x"),
    ("etcd+http://127.0.0.1/x", "etcd+https://127.0.0.1/x"),
    ("etcd+https://a:2379/x", "etcd+https://a:2380/x"),
  ])
  func theyAreDifferentEngines(one: String, other: String) throws {
    #expect(try !SharedAddress(one).isSameEngine(as: SharedAddress(other)))
  }

  @Test(arguments: [
    ("etcd+https://a:1,b/x", "etcd+https:///y/z", "etcd+https://a:1,b/y/z"),
    ("etcd+https://a", "etcd+https://b/y", "etcd+https://a/y"),
    ("etcd+https://a/x", "etcd+https://b", "etcd+https://a"),
  ])
  func thePathOfAnotherOne(address: String, other: String, result: String) {
    #expect(SharedAddress.address(address, withPathOf: other) == result)
  }

  @Test func aPasswordInAnAddressIsRefusedWithoutBeingNamed() {
    let error = #expect(throws: PreferencesError.self) {
      try SharedAddress("etcd+https://web:secret@a/x")
    }
    #expect(error?.code == .invalidAddress && error?.message.contains("secret") == false)
  }
}
