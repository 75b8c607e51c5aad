import Foundation
import PrephirencesShared
import Testing

@Suite("The store of iCloud's name, as a client uses it")
struct CanaryTests {
  @Test func eachSetterStoresWhatItsGetterReturns() async {
    await #expect(processExitsWith: .success) {
      try await inOwnHome {
        let store = NSUbiquitousKeyValueStore.default
        setEverything(store)
        try #require(store.lastPreferencesError == nil)
        let read = readEverything(store)
        try #require(read["longLong"] as? Int64 == .max && read["double"] as? Double == 1.5)
        try #require(read["truth"] as? Bool == true && read["text"] as? String == "text")
        try #require(read["numbers"] as? [Int] == [1, 2])
        try #require(read["dictionary"] as? [String: Int] == ["a": 1])
        try #require(read["data"] as? Data == Data([1]))
        try #require(read["date"] as? Date == Date(timeIntervalSinceReferenceDate: 1))
        try #require(read["count"] as? Int == 19)
        try #require(store.object(forKey: "literal") as? Int == 1)
        try #require(store.object(forKey: "literal") as? NSNumber == 1)
        try #require(store.object(forKey: "truth") as? Bool == true)
        try #require(store.array(forKey: "empty")?.isEmpty == true)
        try #require(store.dictionary(forKey: "none")?.isEmpty == true)
        try #require(NSUbiquitousKeyValueStore.default === store)
        try #require(NSUbiquitousKeyValueStore().longLong(forKey: "integer") == 5)
      }
    }
  }

  @Test func storeIsPreferences() async {
    await #expect(processExitsWith: .success) {
      try await inOwnHome {
        let store = NSUbiquitousKeyValueStore.default
        try #require(usePreferences(store) == 93)
        try #require(store.theme as? String == "dark")
        let (center, observation) = observe(store)
        NotificationCenter.default.removeObserver(center)
        observation.cancel()
        let recording = RecordingStore()
        recording.set("a", forKey: "b")
        try #require(store.string(forKey: "recorded.b") == "a")
        store.clearAll()
        try #require(store.dictionaryRepresentation.isEmpty && store.synchronize())
      }
    }
  }

  @Test func unconfiguredPreferencesAreLocal() async {
    await #expect(processExitsWith: .success) {
      try await inOwnHome {
        try #require(await useShared(FleetSettings.settings) == 63)
        try #require(DurablePreferences(suiteName: "com.example.fleet")["two"] as? Int == 2)
      }
    }
  }
}

/// Gives this process a home of its own; for exit tests.
private func inOwnHome(_ body: () async throws -> Void) async throws {
  let folder = URL.temporaryDirectory.appending(path: "ubiquitous-canary.\(UUID().uuidString)")
  try FileManager.default.createDirectory(
    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  defer { try? FileManager.default.removeItem(at: folder) }
  setenv("HOME", folder.path, 1)
  setenv("XDG_CONFIG_HOME", folder.path, 1)
  try await body()
}
