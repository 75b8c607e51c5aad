// Declarations that the examples in documentation comments assume.
import CryptoPrephirences
import Foundation
import FoundationNetworking
import GRDB
import Keychain
import Synchronization
import TypedDefaults

struct Tokens: Codable, Sendable {
  var access: String
  var refreshToken: String
  var expires: Date
}

struct Server: Sendable {
  func refresh(_ token: String?) async throws -> Tokens { given() }
}

struct CameraConfig: Codable, DefaultConvertible {
  static let key = "CameraConfig"
  var savesToCameraRoll = true
  var size = 2
}

final class Person: NSObject, Codable {
  var color = "red"
  var age = 33
}

enum Theme: String, Codable { case light, dark }

class GivenPreferences: NSObject, PreferencesType {
  let observers = PreferenceObservers()
  let values = Mutex<PreferencesDictionary>([:])
  var count = 0

  func object(forKey key: PreferenceKey) -> PreferenceObject? { nil }
  func dictionary() -> PreferencesDictionary { [:] }
}

func given<Value>() -> Value { fatalError() }
func use(_ value: Any) {}
func paint(_ colour: String) {}

let server = Server()
let token = "the token"
let tokens: Tokens = given()
let theme = Theme.dark
let color = "red"
let identity: CredentialIdentity = given()
let error: KeychainError = given()
let vault = Vault()
let fonts: DictionaryPreferences = given()
let fromFile: Plist = given()
nonisolated(unsafe) let allCookies: [HTTPCookie] = []
nonisolated(unsafe) let keychain: KeychainPreferences = given()
nonisolated(unsafe) let store: any CredentialStore = given()
nonisolated(unsafe) let preferences: any MutablePreferencesType = given()
nonisolated(unsafe) let defaults = UserDefaults.standard
nonisolated(unsafe) let person = Person()
nonisolated(unsafe) let settings = Person()
nonisolated(unsafe) let database: any DatabaseWriter = given()
nonisolated(unsafe) let cipher: SecretCipher = given()
