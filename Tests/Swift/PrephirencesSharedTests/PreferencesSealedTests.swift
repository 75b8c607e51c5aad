import CryptoPrephirences
import Foundation
import PrephirencesDurable
import PrephirencesEtcd
import PrephirencesShared
import PrephirencesSystem
import Testing

@Suite("Sealed values of shared preferences", .timeLimit(.minutes(2)))
struct PreferencesSealedTests {
  @Test func valuesTravelSealedAndBoundToTheirKeys() async throws {
    let address = try PreferencesEngine.address()
    let (one, two) = (try PreferencesMachine(address), try PreferencesMachine(address))
    let (a, b) = (one.preferences(), two.preferences())
    let key = Data((0..<32).map { UInt8($0) })
    let sealed = try sealing(a, key)
    sealed.set("plain words", forKey: "secret")
    sealed.set("other words", forKey: "other")
    try await a.flush(deadline: .seconds(20))
    try waitUntil(b) { $0["secret"] != nil && $0["other"] != nil }
    #expect(try sealing(b, key).string(forKey: "secret") == "plain words")
    #expect(try sealing(b, Data(repeating: 9, count: 32)).object(forKey: "secret") == nil)

    let (client, prefix) = try SharingConfiguration(address: address).cluster(suiteName: "fleet")
    let rows = try EtcdClient(client).range(
      .prefix(Array(prefix.utf8)), deadline: Deadline(after: .seconds(10))
    ).rows
    let values = rows.filter { $0.key.starts(with: Array((prefix + "k/").utf8)) }
    #expect(
      Set(values.map { String(decoding: $0.key, as: UTF8.self) })
        == [prefix + "k/secret", prefix + "k/other"])
    for row in rows {
      #expect(!String(decoding: row.value, as: UTF8.self).contains("words"))
    }

    // Somebody who can write to the engine exchanges two values.
    b["secret"] = b["other"]
    #expect(try sealing(b, key).object(forKey: "secret") == nil)
    #expect(try sealing(b, key).string(forKey: "other") == "other words")
  }

  private func sealing(
    _ preferences: SharedPreferences, _ key: Data
  ) throws -> MutableCryptoPrephirences {
    MutableCryptoPrephirences(
      preferences: preferences, cipher: try SecretCipher(key: SecretBytes(copying: key.bytes)))
  }
}
