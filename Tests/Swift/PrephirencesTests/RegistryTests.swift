internal import Foundation
internal import Prephirences
internal import Testing

@Suite("The preferences of the process")
struct RegistryTests {
  enum Mode: String { case on, off }

  private let store: MutableDictionaryPreferences = ["a": 1]

  @Test func instancesAreFoundByTheirKey() {
    let key = "found-\(UUID())"
    #expect(Prephirences.instance(forKey: key) == nil)
    Prephirences.register(preferences: store, forKey: key)
    #expect(Prephirences.instance(forKey: key) as? MutableDictionaryPreferences === store)
    #expect(Prephirences.instances()[key] as? MutableDictionaryPreferences === store)
    #expect(Prephirences.unregisterInstance(forKey: key) as? MutableDictionaryPreferences === store)
    #expect(Prephirences.instance(forKey: key) == nil)
    #expect(Prephirences.unregisterInstance(forKey: key) == nil)
  }

  @Test func theViewOfInstancesRegistersThem() {
    Prephirences.instances()["a literal of \(Self.self)"] = store
    #expect(Prephirences.instance(forKey: "a literal of \(Self.self)") != nil)
    Prephirences.instances()["a literal of \(Self.self)"] = nil
    #expect(Prephirences.instance(forKey: "a literal of \(Self.self)") == nil)
    let numbered: PrephirencesForType<UUID> = Prephirences.instances()
    let id = UUID()
    numbered[id] = store
    #expect(Prephirences.instance(forKey: id) as? MutableDictionaryPreferences === store)
    Prephirences.unregisterInstance(forKey: id)
    #expect(numbered[id] == nil)
  }

  @Test func keysOfDifferentTypesAreDifferent() {
    let number = Int.random(in: 1_000..<1_000_000)
    Prephirences.registerInstance(store, forKey: number)
    #expect(Prephirences.instance(forKey: Double(number)) == nil)
    #expect(Prephirences.instance(forKey: number, orRegister: DictionaryPreferences()) != nil)
    Prephirences.unregisterInstance(forKey: number)
  }

  @Test func oneOfManyThreadsRegisters() {
    let key = UUID()
    let found = (0..<8).map { _ in MutableDictionaryPreferences() }
    let winners = MutableDictionaryPreferences()
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for turn in 0..<200 {
        let winner = Prephirences.instance(forKey: key, orRegister: found[thread])
        winners.set(
          found.firstIndex { $0 === winner as? MutableDictionaryPreferences } as Any?,
          forKey: "\(thread)")
        Prephirences.registerInstance(found[thread], forKey: "\(key)\(turn)")
        Prephirences.unregisterInstance(forKey: "\(key)\(turn)")
      }
    }
    #expect(Set(winners.dictionary().values.compactMap { $0 as? Int }).count == 1)
    Prephirences.unregisterInstance(forKey: key)
  }

  @Test func theSharedInstanceCanBeReplaced() async {
    await #expect(processExitsWith: .success) {
      try #require(Prephirences.sharedInstance is MutableDictionaryPreferences)
      Prephirences.sharedMutableInstance?["a"] = 1
      try #require(Prephirences.sharedInstance["a"] as? Int == 1)
      Prephirences.sharedInstance = DictionaryPreferences(dictionary: ["a": 2])
      try #require(Prephirences.sharedInstance["a"] as? Int == 2)
      try #require(Prephirences.sharedMutableInstance == nil)
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        for _ in 0..<500 {
          Prephirences.sharedInstance = MutableDictionaryPreferences()
          Prephirences.sharedMutableInstance?["a"] = 3
          Prephirences.jsonEncoder = JSONEncoder()
          _ = Prephirences.jsonDecoder
        }
      }
      try #require(Prephirences.sharedMutableInstance != nil)
    }
  }

  @Test func archivesAndRawValues() {
    #expect(Prephirences.unraw("on") == Mode.on && Prephirences.unraw("x") == Mode?.none)
    #expect(Prephirences.unraw(nil) == Mode?.none)
    #expect(Prephirences.raw(Mode.off) == "off" && Prephirences.raw(Mode?.none) == nil)
    Prephirences.archive(object: ["text"], intoPreferences: store, forKey: "k")
    #expect(Prephirences.unarchive(fromPreferences: store, forKey: "k") as? [String] == ["text"])
    #expect(Prephirences.unarchive(Prephirences.archive(5)) as? Int == 5)
    #expect(Prephirences.archive(Mode.on).isEmpty && Prephirences.unarchive(Data()) == nil)
    #expect(Prephirences.unarchive(fromPreferences: store, forKey: "a") == nil)
    Prephirences.archive(object: nil, intoPreferences: store, forKey: "k")
    #expect(!store.hasObject(forKey: "k"))
  }
}
