internal import Foundation
internal import Palau
internal import Prephirences
internal import Testing

@Suite("Entries")
struct EntryTests {
  private let defaults = memoryDefaults()

  @Test func valuesAreSetAndCleared() {
    let name: PalauDefaultsEntry<String> = entry("name", defaults)
    #expect(name.value == nil)
    name.value = "Ada"
    #expect(name.value == "Ada")
    #expect(defaults.string(forKey: "name") == "Ada")
    name.value = nil
    #expect(name.value == nil)
    #expect(!defaults.hasObject(forKey: "name"))
    name.value = "Bob"
    name.clear()
    #expect(!defaults.hasObject(forKey: "name"))
  }

  @Test func arraysAreSetAndCleared() {
    let hosts: PalauDefaultsArrayEntry<String> = entries("hosts", defaults)
    hosts.value = ["a", "b"]
    #expect(hosts.value == ["a", "b"])
    #expect(defaults.stringArray(forKey: "hosts") == ["a", "b"])
    hosts.value?.append("c")
    #expect(hosts.value == ["a", "b", "c"])
    hosts.clear()
    #expect(hosts.value == nil)
  }

  @Test func valuesOfOtherTypesReadAsNil() {
    defaults.set("text", forKey: "a")
    let number: PalauDefaultsEntry<Int> = entry("a", defaults)
    let numbers: PalauDefaultsArrayEntry<Int> = entries("a", defaults)
    #expect(number.value == nil)
    #expect(numbers.value == nil)
  }

  @Test func rulesRunInOrderOnReadAndWrite() {
    let seen = Recorder<Int?>()
    let count = entry("count", defaults)
      .whenNil(use: 3)
      .ensure(
        when: {
          seen.record($0)
          return ($0 ?? 0) < 10
        }, use: 10)
    #expect(count.value == 10)
    #expect(seen.all == [3])
    count.value = 8
    #expect(defaults.integer(forKey: "count") == 10)
    count.value = 11
    #expect(count.value == 11)
    count.value = nil
    #expect(defaults.integer(forKey: "count") == 10)
    defaults.set(2, forKey: "count")
    #expect(count.value == 10)
    count.clear()
    #expect(!defaults.hasObject(forKey: "count"))
    #expect(count.value == 10)
  }

  @Test func rulesOfArraysRun() {
    let hosts: PalauDefaultsArrayEntry<String> = entries("hosts", defaults)
      .whenNil(use: ["localhost"]).ensure(when: { $0?.isEmpty ?? true }, use: ["none"])
    #expect(hosts.value == ["localhost"])
    hosts.value = []
    #expect(hosts.value == ["none"])
  }

  @Test func didSetGetsNewAndOldValue() {
    let seen = Recorder<[Int?]>()
    let count: PalauDefaultsEntry<Int> = entry("count", defaults)
      .ensure(when: { ($0 ?? 0) > 5 }, use: 5).didSet { seen.record([$0, $1]) }
    count.value = 1
    count.value = 1
    count.value = 9
    count.value = nil
    count.value = 2
    count.clear()
    #expect(seen.all == [[1, nil], [1, 1], [5, 1], [nil, 5], [2, nil], [nil, 2]])
  }

  @Test func laterDidSetReplacesTheEarlier() {
    let seen = Recorder<String>()
    let count: PalauDefaultsEntry<Int> = entry("count", defaults)
      .didSet { _, _ in seen.record("first") }.didSet { _, _ in seen.record("second") }
    count.value = 1
    #expect(seen.all == ["second"])
  }

  @Test func didSetOfArraysGetsBoth() {
    let seen = Recorder<[[String]?]>()
    let hosts: PalauDefaultsArrayEntry<String> = entries("hosts", defaults)
      .didSet { seen.record([$0, $1]) }
    hosts.value = ["a"]
    hosts.clear()
    #expect(seen.all == [[["a"], nil], [nil, ["a"]]])
  }

  @Test func refusedValueIsReportedAndChangesNothing() {
    let seen = Recorder<[Double]?>()
    let opaque: PalauDefaultsEntry<Opaque> = entry("a", defaults)
    defaults.set("old", forKey: "a")
    opaque.value = Opaque {}
    #expect(defaults.string(forKey: "a") == "old")
    #expect(defaults.lastPreferencesError?.code == .unstorable)
    let ratios: PalauDefaultsArrayEntry<Opaque> = entries("a", defaults)
    ratios.value = [Opaque {}]
    #expect(defaults.string(forKey: "a") == "old")
    #expect(seen.all.isEmpty)
  }

  @Test func pureAndIsEmpty() {
    #expect(PalauDefaults.pure(3) == 3)
    #expect(PalauDefaults.isEmpty(Int?.none))
    #expect(!PalauDefaults.isEmpty(3))
  }

  private func entry(_ key: String, _ defaults: NSUD) -> PalauDefaultsEntry<Int> {
    PalauDefaults.value(key, in: defaults)
  }

  private func entry<T>(_ key: String, _ defaults: NSUD) -> PalauDefaultsEntry<T> {
    PalauDefaults.value(key, in: defaults)
  }
}
