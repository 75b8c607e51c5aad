internal import Foundation
internal import Palau
internal import Prephirences
internal import Testing

@Suite("Entries with a fallback")
struct EnsuredEntryTests {
  private let defaults = memoryDefaults()

  @Test func missingValueIsTheFallback() {
    let port = PalauDefaults.value("port", whenNil: 8080, in: defaults)
    #expect(port.value == 8080)
    #expect(!defaults.hasObject(forKey: "port"))
    port.value += 1
    #expect(defaults.integer(forKey: "port") == 8081)
    port.clear()
    #expect(port.value == 8080)
  }

  @Test func arraysHaveFallbacks() {
    let hosts: PalauDefaultsArrayEntryEnsured<String> = PalauDefaults.value(
      "hosts", whenNil: ["localhost"], in: defaults)
    hosts.value.append("b")
    #expect(defaults.stringArray(forKey: "hosts") == ["localhost", "b"])
  }

  @Test func rulesApplyToValuesAndFallback() {
    let port: PalauDefaultsEntryEnsured<Int> = PalauDefaults.value(
      "port", whenNil: 80, in: defaults
    ).ensure(when: { $0 < 1024 }, use: 8080)
    #expect(port.value == 8080)
    port.value = 22
    #expect(defaults.integer(forKey: "port") == 8080)
    port.value = 9090
    #expect(port.value == 9090)
  }

  @Test func didSetGetsTheFallback() {
    let seen = Recorder<[Int]>()
    let port = PalauDefaults.value("port", whenNil: 8080, in: defaults)
      .didSet { seen.record([$0, $1]) }
    port.value = 1
    port.clear()
    #expect(seen.all == [[1, 8080], [8080, 1]])
  }

  @Test func failedReadIsNotReplacedByTheFallback() {
    let store = FailingPreferences(["port": 9090])
    let defaults = BackedUserDefaults(preferences: store)
    let port = PalauDefaults.value("port", whenNil: 8080, in: defaults)
    store.failsReads = true
    port.value += 1
    #expect(defaults.lastPreferencesError?.code == .damaged)
    store.failsReads = false
    #expect(port.value == 9090)
    port.value += 1
    #expect(port.value == 9091)
  }

  @Test func unreadableValueIsNotReplacedByTheFallback() {
    defaults.set("https", forKey: "port")
    let port = PalauDefaults.value("port", whenNil: 8080, in: defaults)
    port.value += 1
    #expect(defaults.lastPreferencesError?.code == .typeMismatch)
    #expect(defaults.string(forKey: "port") == "https")

    let damaged = Data("{".utf8)
    defaults.set(damaged, forKey: "window")
    let window = PalauDefaults.value(
      "window", whenNil: Window(width: 1, title: ""), in: defaults)
    window.value.width += 1
    #expect(defaults.data(forKey: "window") == damaged)
    window.value = Window(width: 2, title: "new")
    #expect(window.value.width == 2)
  }
}

/// Preferences in memory whose reads can fail.
private final class FailingPreferences: FalliblePreferencesType {
  private var values: PreferencesDictionary
  var failsReads = false

  init(_ values: PreferencesDictionary) { self.values = values }

  func object(forKey key: PreferenceKey) -> PreferenceObject? { failsReads ? nil : values[key] }
  func dictionary() -> PreferencesDictionary { failsReads ? [:] : values }
  func set(_ value: PreferenceObject?, forKey key: PreferenceKey) { values[key] = value }
  func removeObject(forKey key: PreferenceKey) { values[key] = nil }

  func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    if failsReads { throw PreferencesError(.damaged, "the file is damaged") }
    return values[key]
  }

  func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    values[key] = value
  }
}
