import CryptoPrephirences
import Foundation
import Keychain
import Palau
import Prephirences
import PrephirencesDurable
import SwiftyUserDefaults
import Testing
import TypedDefaults

@Suite("A program in Swift 6 mode that imports everything")
struct FacadesTests {
  @Test func everyFacadeWritesOneSuite() async {
    await #expect(processExitsWith: .success) {
      try await inOwnHome {
        let defaults = DurableUserDefaults(Program.settings)
        let program = Program(
          defaults: DefaultsAdapter(defaults: defaults, keyStore: DefaultsKeys()))
        program.defaults.launches = 1
        program.defaults.launches += 1
        PalauDefaults.launches.value? += 1
        Program.launches.value? += 1
        #expect(program.defaults[\.launches] == 4)
        PalauDefaults.theme.value = .dark
        #expect(program.defaults.theme == .dark)
        program.defaults.hosts = ["a"]
        PalauDefaults.hosts.value?.append("b")
        #expect(program.defaults.hosts == ["a", "b"])
        Program.window.set(Window(width: 3, title: "a"))
        #expect(program.defaults.window == Window(width: 3, title: "a"))
        program.enabled = true
        #expect(program.enabled == true)
        #expect(useUserDefaults(defaults))
        let works = try (useDurable(Program.settings), useCipher(defaults))
        #expect(works == (true, true))
      }
    }
  }

  @Test func defaultStoresAreTheSame() async {
    await #expect(processExitsWith: .success) {
      try await inOwnHome {
        Defaults[\.launches] = 5
        let launches: PalauDefaultsEntry<Int> = PalauDefaults.value("launches")
        #expect(launches.value == 5)
        PersistentStore<Window>().set(Window(width: 1, title: "b"))
        #expect(Defaults.window?.title == "b")
        #expect(DurablePreferences.standard.integer(forKey: "launches") == 5)
      }
    }
  }

  @Test func tasksShareTheAdapter() async {
    let adapter = DefaultsAdapter(
      preferences: MutableDictionaryPreferences(dictionary: [:]), keyStore: DefaultsKeys())
    await withTaskGroup(of: Void.self) { group in
      for name in ["a", "b"] { group.addTask { adapter.name = name } }
    }
    #expect(["a", "b"].contains(adapter.name))
  }

  @Test func actorsKeepAndEndObservations() async {
    let adapter = DefaultsAdapter(
      preferences: MutableDictionaryPreferences(dictionary: [:]), keyStore: DefaultsKeys())
    let counter = Counter(adapter)
    let screen = await Screen(adapter)
    await screen.appear()
    adapter.name = "a"
    await counter.count()
    while await counter.seen.isEmpty { await Task.yield() }
    #expect(await counter.seen == [1])
    while await screen.titles != ["a", "nobody"] { await Task.yield() }
  }
}

// A program in Swift 6 mode that imports every product: no name of a type and no common call may be
// ambiguous.

enum Theme: String, Codable, DefaultsSerializable, PalauDefaultable { case light, dark }

struct Window: Codable, Hashable, DefaultConvertible, DefaultsSerializable, PalauDefaultable {
  static let key = "window"
  var width: Int
  var title: String
}

extension DefaultsKeys {
  var launches: DefaultsKey<Int> { .init("launches", defaultValue: 0) }
  var name: DefaultsKey<String?> { .init("name") }
  var theme: DefaultsKey<Theme> { .init("theme", defaultValue: .light) }
  var window: DefaultsKey<Window?> { .init("window") }
  var hosts: DefaultsKey<[String]> { .init("hosts", defaultValue: []) }
}

/// What every facade shares.
struct Program: Sendable {
  static let settings = DurablePreferences(suiteName: "canary")
  static let window = PersistentStore<Window>(preferences: settings)
  static let launches = MutablePreference<Int>(preferences: settings, key: "launches")

  let defaults: DefaultsAdapter<DefaultsKeys>

  @MutablePreference(preferences: Program.settings, key: "enabled")
  var enabled: Bool?
}

extension PalauDefaults {
  static var launches: PalauDefaultsEntry<Int> {
    value("launches", in: Program.settings)
  }
  static var theme: PalauDefaultsEntryEnsured<Theme> {
    value("theme", whenNil: .light, in: Program.settings)
  }
  static var hosts: PalauDefaultsArrayEntry<String> {
    value("hosts", in: Program.settings)
  }
}

/// Calls what a program calls most on user defaults, with all extensions visible.
func useUserDefaults(_ defaults: UserDefaults) -> Bool {
  let count = DefaultsKey<Int>("count", defaultValue: 0)
  defaults["text"] = "a"
  let text = defaults["text"] as? String
  defaults.set(1.5, forKey: "number")
  if let url = URL(string: "https://swift.org/a") { defaults.set(url, forKey: "url") }
  defaults.set(nil, forKey: "nothing")
  defaults["number"] = nil
  defaults[count] += 1
  let hasCount = defaults.hasKey(count)
  defaults.remove(count)
  let isGone = !defaults.hasObject(forKey: "count")
  defaults.removeObject(forKey: "text")
  return text == "a" && hasCount && isGone && defaults.url(forKey: "url")?.host == "swift.org"
    && defaults.object(forKey: "number") == nil && defaults.double(forKey: "number") == 0
}

/// Calls what a program calls most on durable preferences.
func useDurable(_ preferences: DurablePreferences) throws -> Bool {
  preferences["port"] = 8080
  preferences.set("a", forKey: "text")
  try preferences.storeObject(3, forKey: "count")
  let count: MutablePreference<Int> = preferences <| "count"
  count.value? += 1
  return preferences.integer(forKey: "port") == 8080 && preferences.string(forKey: "text") == "a"
    && preferences["count"] as? Int == 4
}

/// Encrypts a value of a facade.
func useCipher(_ defaults: UserDefaults) throws -> Bool {
  let cipher = try SecretCipher(key: SecretBytes(copying: String(repeating: "k", count: 32)))
  defaults["token", .cipher(cipher)] = "secret"
  return defaults["token", .cipher(cipher)] as? String == "secret"
    && defaults.string(forKey: "token") != "secret"
}

/// Names the types of the keychain next to the others; a test has no keychain.
func useKeychain(_ keychain: KeychainPreferences) -> any FalliblePreferencesType {
  let adapter = DefaultsAdapter(preferences: keychain, keyStore: DefaultsKeys())
  _ = { adapter.launches += 1 }
  _ = PersistentStore<Window>(preferences: keychain)
  _ =
    PalauDefaults.value("token", in: keychain)
    as PalauDefaultsEntry<String>
  return keychain
}
