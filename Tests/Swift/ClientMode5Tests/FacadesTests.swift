import CryptoPrephirences
import Foundation
import Keychain
import Palau
import Prephirences
import PrephirencesDurable
import SwiftyUserDefaults
import Testing
import TypedDefaults

// A program in language mode 5 that imports every product, and uses them as such programs do.

private let memory = MutableDictionaryPreferences(dictionary: [:])
private var Defaults = DefaultsAdapter(preferences: memory, keyStore: DefaultsKeys())

enum Theme: String, Codable, DefaultsSerializable, PalauDefaultable { case light, dark }

struct Window: Codable, Equatable, DefaultConvertible, DefaultsSerializable, PalauDefaultable {
  static let key = "window"
  var width: Int
}

extension DefaultsKeys {
  var launches: DefaultsKey<Int> { .init("launches", defaultValue: 0) }
  var theme: DefaultsKey<Theme> { .init("theme", defaultValue: .light) }
  var window: DefaultsKey<Window?> { .init("window") }
}

extension PalauDefaults {
  static var launches: PalauDefaultsEntry<Int> {
    get { value("launches", in: BackedUserDefaults(preferences: memory)) }
    set {}
  }
}

class Controller {
  @Preference(preferences: memory, key: "launches")
  var launches: Int?

  @SwiftyUserDefault(keyPath: \.launches, adapter: Defaults)
  var wrapped: Int

  lazy var config: AnyStore<Window> = AnyStore(PersistentStore(preferences: memory))
  var keychain: KeychainPreferences?
  var cipher: Cipher?
}

@Suite("A program in mode 5 that imports everything")
struct FacadesTests {
  @Test func everyFacadeReadsTheOthers() {
    let controller = Controller()
    Defaults[\.launches] = 1
    Defaults.launches += 1
    PalauDefaults.launches.value = (PalauDefaults.launches.value ?? 0) + 1
    controller.wrapped += 1
    #expect(controller.launches == 4)
    #expect(memory["launches"] as? Int == 4)
    Defaults[key: DefaultsKey<Theme>("theme", defaultValue: .light)] = .dark
    #expect(Defaults.theme == .dark)
    controller.config.set(Window(width: 3))
    #expect(Defaults[\.window] == Window(width: 3))
    let store: MutablePreferencesType = BackedUserDefaults(preferences: memory)
    #expect(store.integer(forKey: "launches") == 4)
    let defaults: UserDefaults = BackedUserDefaults(preferences: memory)
    defaults["launches"] = 7
    defaults[DefaultsKey<Int>("launches", defaultValue: 0)] += 1
    #expect(defaults.integer(forKey: "launches") == 8)
    #expect(defaults.hasKey(DefaultsKey<Int>("launches", defaultValue: 0)))
  }
}
