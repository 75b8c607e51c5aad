internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Failures of backed user defaults") struct BackedFailureTests {
  private let store = FailingPreferences()
  private let defaults: UserDefaults

  init() {
    store.values["k"] = 1
    defaults = BackedUserDefaults(preferences: store)
  }

  @Test func failedReadsAreReported() {
    store.isFailing = true
    #expect(defaults.integer(forKey: "k") == 0)
    #expect(defaults.lastPreferencesError?.code == .locked)
    #expect(throws: FailingPreferences.Locked.self) { try defaults.fetchObject(forKey: "k") }
    #expect(defaults["k"] == nil)
    #expect(defaults.lastPreferencesError?.code == .locked)
    store.isFailing = false
    #expect(defaults.integer(forKey: "k") == 1)
    #expect(defaults.lastPreferencesError == nil)
  }

  @Test func aFailedReadIsNotAnAbsentValue() {
    let key = "backed.\(UUID())"
    defaults.register(defaults: [key: 5])
    #expect(defaults.integer(forKey: key) == 5)
    store.isFailing = true
    #expect(defaults.object(forKey: key) == nil)
    #expect(defaults.lastPreferencesError?.code == .locked)
  }

  @Test func failedWritesAreReported() {
    store.isFailing = true
    let writes: [() -> Void] = [
      { defaults.set(2, forKey: "k") }, { defaults["k"] = 2 }, { defaults.k = nil },
      { defaults.removeObject(forKey: "k") }, { defaults.set(dictionary: ["k": 2, "l": 3]) },
      { defaults.clearAll() }, { defaults.set(URL(string: "a"), forKey: "k") },
    ]
    for (number, write) in writes.enumerated() {
      defaults.didRefuse(PreferencesError(.conflict, "before"), forKey: "k")
      write()
      #expect(defaults.lastPreferencesError?.code == .locked, "write \(number)")
      #expect(store.values["k"] as? Int == 1, "write \(number)")
    }
    #expect(throws: PreferencesError.self) { try defaults.save(["k": 2]) }
    #expect(throws: PreferencesError.self) { try defaults.storeObject(2, forKey: "k") }
  }

  @Test func aReadKeepsTheFailureOfAWrite() {
    store.isFailing = true
    defaults.set(2, forKey: "k")
    store.isFailing = false
    #expect(defaults.integer(forKey: "k") == 1)
    #expect(defaults.lastPreferencesError?.code == .locked)
    defaults.set(2, forKey: "k")
    #expect(defaults.lastPreferencesError == nil)
  }

  @Test func aFailedListIsReported() {
    store.isFailing = true
    #expect(defaults.dictionaryRepresentation()["k"] == nil)
    #expect(defaults.lastPreferencesError?.code == .locked)
  }

  @Test func combinationsPassFailuresOn() throws {
    let composite = MutableCompositePreferences([store, ["k": 2, "l": 3] as DictionaryPreferences])
    let proxy = MutableProxyPreferences(preferences: store, key: "a.")
    try proxy.storeObject(7, forKey: "b")
    #expect(store.values["a.b"] as? Int == 7)
    #expect(try composite.fetchObject(forKey: "l") as? Int == 3)
    store.isFailing = true
    #expect(throws: FailingPreferences.Locked.self) { try composite.fetchObject(forKey: "l") }
    #expect(throws: FailingPreferences.Locked.self) { try composite.storeObject(1, forKey: "l") }
    #expect(throws: FailingPreferences.Locked.self) { try proxy.fetchObject(forKey: "b") }
    #expect(throws: FailingPreferences.Locked.self) { try proxy.storeObject(1, forKey: "b") }
    #expect(composite["l"] as? Int == 3)
  }

  @Test func unknownErrorsDoNotShowTheirText() {
    struct Secret: Error { let text = "hidden" }
    let error = BackedUserDefaults(preferences: Throwing(error: Secret()))
    _ = error.integer(forKey: "k")
    #expect(error.lastPreferencesError?.message.contains("'k'") == true)
    #expect(error.lastPreferencesError?.message.contains("hidden") == false)
  }

  private struct Throwing: FalliblePreferencesType {
    let error: any Error

    func object(forKey key: PreferenceKey) -> PreferenceObject? { nil }
    func dictionary() -> PreferencesDictionary { [:] }
    func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {}
    func removeObject(forKey key: PreferenceKey) {}
    func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? { throw error }
    func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws { throw error }
  }
}
