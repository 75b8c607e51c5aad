import Foundation
import PrephirencesDurable
import PrephirencesShared
import Testing

@Suite("Shared preferences without a configuration")
struct PreferencesLocalTests {
  private let machine: PreferencesMachine
  private let preferences: SharedPreferences

  init() throws {
    machine = try PreferencesMachine()
    preferences = machine.preferences()
  }

  @Test func valuesAreThoseOfTheDurableSuite() throws {
    preferences["text"] = "a"
    machine.durable["number"] = Int.max
    #expect(machine.durable["text"] as? String == "a")
    #expect(preferences["number"] as? Int == .max)
    #expect(preferences["number"] is NSNumber)
    #expect(preferences.dictionary().count == 2)
    try preferences.storeObjects([("text", nil), ("new", 1)])
    #expect(try preferences.fetchObject(forKey: "text") == nil)
    #expect(Set(try preferences.fetchDictionary().keys) == ["number", "new"])
    try preferences.removeAllObjects()
    #expect(machine.durable.dictionary().isEmpty)
    try preferences.synchronize()
  }

  @Test func typedKeysAndTransactionsWork() throws {
    let port = SharedPreferences.Key<Int>("port", default: 80)
    preferences[port] += 1
    #expect(try preferences.value(for: port) == 81)
    #expect(
      try preferences.update(port) {
        $0 += 1; return $0
      } == 82)
    #expect(throws: CancellationError.self) {
      try preferences.transaction { transaction in
        try transaction.set(1, forKey: "port")
        preferences["other"] = 2
        throw CancellationError()
      }
    }
    #expect(preferences[port] == 82)
    #expect(preferences["other"] == nil)
    #expect(try preferences.hasValue(for: port))
    try preferences.remove(port)
    #expect(preferences[port] == 80)
    try preferences.updateValue(forKey: "list") { $0 = ["a"] }
    #expect(preferences.stringArray(forKey: "list") == ["a"])
  }

  @Test func observersSeeChangesOfAllPrograms() throws {
    let seen = Deliveries<Int?>()
    let observation = preferences.observe(forKey: "key") { seen.append($0.newValue as? Int) }
    preferences["key"] = 1
    machine.durable["key"] = 2
    preferences.removeObject(forKey: "key")
    try seen.wait { $0 == [1, 2, nil] }
    observation.cancel()
    let external = preferences.observeExternalChanges { _ in Issue.record("a local change") }
    preferences["key"] = 3
    external.cancel()
  }

  @Test func failuresAreReported() throws {
    let failures = Deliveries<PreferencesError.Code>()
    let observation = preferences.observeFailures { failures.append($0.code) }
    preferences["object"] = NSObject()
    #expect(preferences.lastError?.code == .unstorable)
    #expect(failures.all == [.unstorable])
    preferences["object"] = 1
    #expect(preferences.lastError == nil)
    observation.cancel()
    #expect(machine.preferences("a/b").object(forKey: "k") == nil)
    #expect(machine.preferences("a/b").lastError?.code == .invalidName)
  }

  @Test func nothingIsSentAndNothingIsMade() async throws {
    preferences["key"] = 1
    try await preferences.flush(deadline: .seconds(5))
    let status = try preferences.status()
    #expect(!status.isShared && status.unsentKeys == 0 && status.failure == nil)
    #expect(preferences.worker == nil)
    let names = try FileManager.default.contentsOfDirectory(atPath: machine.folder)
    #expect(!names.contains("prephirences"))
    #expect(!names.contains { $0.contains("sync") })
  }

  @Test func valuesAreNotTheUsersOwn() {
    let any: Any = preferences
    #expect(!(any is any OwnValuePreferences))
  }

  @Test func theyBackUserDefaults() {
    let defaults = BackedUserDefaults(preferences: preferences)
    defaults.set(8080, forKey: "port")
    #expect(preferences["port"] as? Int == 8080)
    #expect(defaults.synchronize())
  }

  @Test func badConfigurationIsReportedAndValuesStayUsable() throws {
    let machine = try PreferencesMachine("etcd+https://a/p")
    try Data(#"{"adress": "x"}"#.utf8).write(to: URL(filePath: machine.configurationPath))
    let preferences = machine.preferences()
    preferences["key"] = 1
    #expect(preferences["key"] as? Int == 1)
    #expect(preferences.lastError?.code == .invalidAddress)
    #expect(try preferences.status().failure?.code == .invalidAddress)
    let failures = Deliveries<PreferencesError.Code>()
    let observation = preferences.observeFailures { failures.append($0.code) }
    #expect(failures.all == [.invalidAddress])
    observation.cancel()
  }
}
