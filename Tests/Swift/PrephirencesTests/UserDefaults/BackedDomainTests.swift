internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Domains of backed user defaults") struct BackedDomainTests {
  private let store = MutableDictionaryPreferences()
  private let defaults: BackedUserDefaults
  private let key = "backed.\(UUID())"

  init() { defaults = BackedUserDefaults(preferences: store) }

  @Test func registeredDefaultsComeLast() {
    defaults.register(defaults: [key: 1])
    #expect(defaults.integer(forKey: key) == 1)
    #expect(defaults.object(forKey: key) as? Double == 1)
    #expect(store[key] == nil)
    defaults.set(2, forKey: key)
    #expect(defaults.integer(forKey: key) == 2)
    defaults.removeObject(forKey: key)
    #expect(defaults.integer(forKey: key) == 1)
  }

  @Test func registeredDefaultsAreThoseOfTheProcess() {
    UserDefaults.standard.register(defaults: [key: "plain"])
    #expect(defaults.string(forKey: key) == "plain")
    BackedUserDefaults().register(defaults: [key: "backed"])
    #expect(UserDefaults.standard.string(forKey: key) == "backed")
  }

  @Test func argumentsComeFirst() {
    defaults.set(1, forKey: key)
    defaults.setVolatileDomain([key: "2"], forName: UserDefaults.argumentDomain)
    #expect(defaults.integer(forKey: key) == 2)
    #expect(defaults[key] as? String == "2")
    #expect(defaults.dictionaryRepresentation()[key] as? String == "2")
    defaults.set(3, forKey: key)
    #expect(defaults.integer(forKey: key) == 2)
    #expect(store.integer(forKey: key) == 3)
    defaults.removeVolatileDomain(forName: UserDefaults.argumentDomain)
    #expect(defaults.integer(forKey: key) == 3)
  }

  @Test func otherVolatileDomainsAreNotSearched() {
    let name = "backed.volatile"
    defaults.setVolatileDomain([key: 1], forName: name)
    #expect(defaults.object(forKey: key) == nil)
    #expect(defaults.volatileDomain(forName: name)[key] as? Int == 1)
    #expect(defaults.volatileDomainNames.contains(name))
  }

  // UserDefaults itself stops the program.
  @Test func unsupportedValuesOfDomainsAreLeftOut() {
    let url = URL(filePath: "/a")
    for domain in [UserDefaults.argumentDomain, "backed.unsupported"] {
      defaults.setVolatileDomain([key: { () in }, key + ".url": url], forName: domain)
      #expect(defaults.lastPreferencesError?.code == .unstorable)
      let names = defaults.volatileDomain(forName: domain).keys
      #expect(names.contains(key + ".url") && !names.contains(key))
    }
    #expect(defaults.object(forKey: key) == nil)
    #expect(defaults.url(forKey: key + ".url") == url)
  }

  @Test func suitesComeBeforeRegisteredDefaults() {
    let suite = MutableDictionaryPreferences(dictionary: [key: 5])
    let first = BackedUserDefaults(preferences: store)
    let second = BackedUserDefaults(
      preferences: MutableCompositePreferences([store, suite]))
    first.register(defaults: [key: 1])
    #expect(second.integer(forKey: key) == 5)
    first.addSuite(named: "backed.absent")
    #expect(first.integer(forKey: key) == 1)
    first.removeSuite(named: "backed.absent")
  }

  @Test func allVisibleValuesAreListed() {
    defaults.register(defaults: [key: 1, key + ".own": 1])
    defaults.set(2, forKey: key + ".own")
    let all = defaults.dictionaryRepresentation()
    #expect(all[key] as? Int == 1)
    #expect(all[key + ".own"] as? Int == 2)
    #expect(defaults.dictionary()[key] as? Double == 1)
  }

  @Test func nothingIsForced() {
    defaults.set(1, forKey: key)
    #expect(!defaults.objectIsForced(forKey: key))
  }

  @Test func removalLeavesRegisteredDefaults() {
    defaults.register(defaults: [key: 1])
    defaults.set(2, forKey: key)
    defaults.clearAll()
    #expect(store.dictionary().isEmpty)
    #expect(defaults.integer(forKey: key) == 1)
  }
}
