internal import Foundation
internal import Palau
internal import Prephirences
internal import Testing

/// In a process of its own, with a suite of its own.
@Suite("Plain user defaults")
struct PlainUserDefaultsTests {
  @Test func refusalsAreReported() async {
    await #expect(processExitsWith: .success) {
      let name = "prephirences-test-\(UUID().uuidString)"
      let defaults = try #require(UserDefaults(suiteName: name))
      defer { try? FileManager.default.removeItem(atPath: file(of: name)) }
      let work: PalauDefaultsEntry<Opaque> = entry("work", defaults)
      work.value = Opaque {}
      #expect(defaults.lastPreferencesError?.code == .unstorable)
      let several: PalauDefaultsArrayEntry<Opaque> = entries("work", defaults)
      several.value = [Opaque {}]
      #expect(defaults.lastPreferencesError?.code == .unstorable)
      let count: PalauDefaultsEntry<Int> = entry("count", defaults)
      count.value = 1
      #expect(defaults.lastPreferencesError == nil)
    }
  }
}

/// Returns the file in which Foundation stores user defaults.
private func file(of suite: String) -> String {
  let environment = ProcessInfo.processInfo.environment
  let folder = environment["XDG_CONFIG_HOME"] ?? (environment["HOME"] ?? "") + "/.config"
  return "\(folder)/\(suite).plist"
}
