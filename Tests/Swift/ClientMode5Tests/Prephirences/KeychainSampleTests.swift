import Foundation
import Keychain
import Prephirences
import Testing

@Suite("Keychain")
struct KeychainSampleTests {
  @Test func storeTextOrData() {
    var found: String?

    KeychainPreferences.sharedInstance  // default instance with main bundle id
    var keychain = KeychainPreferences(
      service: "com.github.example", store: InMemoryCredentialStore())

    keychain["anUserName"] = "password-encoded"
    if let pass = keychain.stringForKey("anUserName") { found = pass }

    #expect(found == "password-encoded")
    #expect(keychain["anUserName"] as? String == "password-encoded")
    keychain["data"] = Data([0, 1, 2])
    #expect(keychain["data"] as? Data == Data([0, 1, 2]))
  }

  @Test func accessibilityAndSharing() {
    let store = InMemoryCredentialStore()
    let keychain = KeychainPreferences(service: "com.github.example", store: store)

    keychain.accessibility = .AccessibleAfterFirstUnlock

    keychain.accessGroup = "AKEY.shared"

    keychain["anUserName"] = "password-encoded"
    let credential = keychain[attribute: "anUserName"]
    #expect(credential?.accessibility == .afterFirstUnlock)
    let member = KeychainPreferences(
      service: "com.github.example", accessGroup: "AKEY.shared", store: store)
    #expect(member["anUserName"] as? String == "password-encoded")
    #expect(KeychainPreferences(service: "com.github.example", store: store)["anUserName"] == nil)
  }
}

// Symbols of the released library that are in the product `Keychain`.
private func useKeychain(_ keychain: KeychainPreferences) {
  let _: PreferencesAdapter & MutablePreferencesType = keychain
  KeychainPreferences.sharedInstance = keychain
  keychain.accessible = .afterFirstUnlock
  keychain.accessGroup = "group"
  let _: String? = keychain.service
  let _: OSStatus? = keychain.lastStatus
  let _: [OSStatus] = [errSecSuccess, errSecItemNotFound]
  keychain[string: "a"] = keychain[string: "b"]
  keychain[data: "a"] = keychain[data: "b"]
  let _: () -> [String] = keychain.keys
  let _ = KeychainPreference<String>(keychain: keychain, key: "a")
  let _: MutablePreference<String> = KeychainPreference(
    keychain: keychain, key: "a", transformation: TransformationKey.none)
}

private struct Credentials {
  @KeychainPreference(key: "token") var token: String?
}
