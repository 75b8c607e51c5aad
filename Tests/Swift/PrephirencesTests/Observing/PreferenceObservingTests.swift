import Foundation
import Prephirences
import Testing

@Suite("Observing one preference")
struct PreferenceObservingTests {
  private let store = MutableDictionaryPreferences()

  @Test func valuesAreOfThePreferencesType() {
    let preference: MutablePreference<Double> = store.preference(forKey: "a")
    let told = Locked<[[Double?]]>([])
    let observation = preference.observe(initial: true) { new, old in
      told.withLock { $0.append([new, old]) }
    }
    store["a"] = 1
    preference.value = 2.5
    store["a"] = "no number"
    preference.clear()
    #expect(told.withLock { $0 } == [[nil, nil], [1, nil], [2.5, 1], [nil, 2.5]])
    withExtendedLifetime(observation) {}
  }

  @Test func transformationIsAppliedToBoth() {
    struct Shape: Codable, Equatable { var name: String }
    let preference = MutablePreference<Shape>(
      preferences: store, key: "a", transformation: TransformationKey.codable(Shape.self))
    let told = Locked<[[Shape?]]>([])
    let observation = preference.observe { new, old in told.withLock { $0.append([new, old]) } }
    preference.value = Shape(name: "one")
    preference.value = Shape(name: "one")
    preference.value = Shape(name: "two")
    let expected = [[Shape(name: "one"), nil], [Shape(name: "two"), Shape(name: "one")]]
    #expect(told.withLock { $0 } == expected)
    withExtendedLifetime(observation) {}
  }

  @Test func projectedValueIsObserved() async {
    struct Settings {
      @MutablePreference var size: Int?
    }
    let settings = Settings(size: MutablePreference(preferences: store, key: "size"))
    var values = settings.$size.values().makeAsyncIterator()
    #expect(await values.next() == .some(nil))
    settings.size = 1
    #expect(await values.next() == .some(1))
    settings.size = 2
    settings.size = 3
    #expect(await values.next() == .some(3))
  }

  @Test func preferenceAndStoreAreNotKeptAlive() {
    weak var weakPreference: MutablePreference<Int>?
    weak var weakStore: MutableDictionaryPreferences?
    let observation: PreferenceObservation
    do {
      let store = MutableDictionaryPreferences()
      let preference: MutablePreference<Int> = store.preference(forKey: "a")
      (weakStore, weakPreference) = (store, preference)
      observation = preference.observe { _, _ in }
    }
    #expect(weakPreference == nil)
    #expect(weakStore == nil)
    withExtendedLifetime(observation) {}
  }
}
