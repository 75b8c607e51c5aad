internal import Foundation
internal import Keychain
import Prephirences
internal import Testing

@Suite("One value of a keychain")
struct KeychainPreferenceTests {
  struct Account: Codable, Equatable {
    var name = "a"
    var tries = 3
  }
  enum Mode: String { case on, off }

  @Test func wrappersReadAndWriteTheKeychain() throws {
    let keychain = preferences()
    @KeychainPreference(keychain: keychain, key: "token") var token: String?
    @KeychainPreference(keychain: keychain, key: "account") var account: Account?
    @KeychainPreference(keychain: keychain, key: "mode") var mode: Mode?
    @KeychainPreferenceWithDefault(keychain: keychain, key: "tries", default: 1) var tries: Int
    @KeychainPreferenceWithDefault(keychain: keychain, key: "label") var label = "none"
    #expect(token == nil && account == nil && mode == nil && tries == 1 && label == "none")
    token = "secret"
    account = Account()
    mode = .on
    tries += 1
    label += "!"
    #expect(token == "secret" && account == Account() && mode == .on && tries == 2)
    #expect(try keychain.string(for: "token") == "secret")
    #expect(try keychain.value(Account.self, for: "account") == Account(), "as the keychain does")
    #expect(try keychain.string(for: "mode") == "on" && label == "none!")
    token = nil
    $account.clear()
    #expect(try keychain.allKeys() == ["label", "mode", "tries"])
    #expect($mode.keychain === keychain && $tries.value == 2)
  }

  @Test func unsupportedNamesAreDecoded() throws {
    let keychain = preferences()
    try keychain.set(JSONEncoder().encode(Account(tries: 5)), for: "account")
    let account = KeychainPreference<Account>(keychain: keychain, key: "account")
    #expect(account.value?.tries == 5)
  }

  @Test func aTransformationMayBeGiven() throws {
    let keychain = preferences()
    let account = KeychainPreference<Account>(
      keychain: keychain, key: "account", transformation: TransformationKey.codable(Account.self))
    account.value = Account(tries: 7)
    let data = try #require(try keychain.data(for: "account"))
    #expect(try JSONDecoder().decode(Account.self, from: data).tries == 7)
    #expect(account.value?.tries == 7)
  }
}
