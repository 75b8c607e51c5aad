// swift-format-ignore-file
import CryptoPrephirences
import Foundation
import FoundationNetworking
import PrephirencesCookies
import PrephirencesRecords

private func useEncryption(
  _ preferences: PreferencesType, _ mutable: MutablePreferencesType, _ cipher: Cipher, path: String
) throws {
  let encrypted = CryptoPrephirences(preferences: preferences, cipher: cipher)
  let _: PreferencesType = encrypted.preferences
  let _: Cipher = encrypted.cipher
  encrypted.returnNotDecrytable = true
  let _: Any? = encrypted.object(forKey: "a", withCipher: cipher)
  let _: Any? = preferences.object(forKey: "a", withCipher: cipher)
  let changed = MutableCryptoPrephirences(preferences: mutable, cipher: cipher)
  let _: CryptoPrephirences & MutablePreferencesType = changed
  let _: MutablePreferencesType = changed.mutablePreferences
  mutable.set(1, forKey: "a", withCipher: cipher)
  try mutable.loadFrom(filePath: path, withCipher: cipher)
  try preferences.saveTo(filePath: path, withCipher: cipher)
  let _: TransformationKey = .cipher(cipher)
  var mutable = mutable
  mutable["a", .cipher(cipher)] = 1
  let _: [String: Any] = try Plist.readFrom(path, withCipher: cipher)
  try Plist.writeTo(path, withCipher: cipher, dictionary: ["a": 1])
  let _ = try DictionaryPreferences(filePath: path, withCipher: cipher)
  let _: Error = CryptoPrephirencesError.failedToDeserializePropertyList
}

private class MyEncryptedPreferences: MutableCryptoPrephirences {}

private func useCookiesAndRecords(_ cookies: HTTPCookieStorage, _ record: ManagedRecord) {
  let _: PreferencesType = cookies
  let _: PreferencesAdapter = ManageObjectPreferences(record)
  let _: ManageObjectPreferences & MutablePreferencesType = MutableManageObjectPreferences(record)
}
