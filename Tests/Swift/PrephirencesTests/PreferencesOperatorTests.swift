internal import Prephirences
internal import Testing

@Suite("Operators on preferences")
struct PreferencesOperatorTests {
  private let store: MutableDictionaryPreferences = ["a": 1, "b": 2]

  @Test func addingSetsAndSubtractingRemoves() {
    store += ["b": 3, "c": "text"]
    #expect(store["a"] as? Int == 1 && store["b"] as? Int == 3 && store["c"] as? String == "text")
    store += [("d", 4), ("d", 5), ("a", Int?.none as Any)]
    #expect(store["d"] as? Int == 5 && !store.hasObject(forKey: "a"))
    store += AdaptedPreferences()
    #expect(store["a"] as? String == "aa")
    store -= "a"
    store -= "absent"
    #expect(store.dictionary().keys.sorted() == ["b", "c", "d"])
  }

  @Test func onlyWhatIsMissingIsSet() {
    store ?= ["b": 3, "c": 3]
    store ?= [("c", 4), ("d", 4), ("d", 5)]
    #expect(store["b"] as? Int == 2 && store["c"] as? Int == 3 && store["d"] as? Int == 4)
  }

  @Test func existentialsAndVariablesWork() {
    var existential: any MutablePreferencesType = store
    existential += ["c": 3]
    existential -= "a"
    existential = store
    var variable = store
    variable += existential
    variable = store
    #expect(store.dictionary() as? [String: Int] == ["b": 2, "c": 3])
  }

  @Test func operationsOnTwoKeys() {
    #expect(store.operation(on: "a", with: "b", using: { $0 + $1 }) == 3)
    #expect(
      store.operation(on: "a", with: "absent") { (left: Int, right: Int) in left - right } == 1)
    #expect(store.operation(on: "absent", with: "x") { (left: Int, _) in left } == nil)
    #expect(store.operation(on: "a", with: 5, using: *) == 5)
    #expect(store.operation(on: "absent", with: 5, using: *) == 5)
  }
}
