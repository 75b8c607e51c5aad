import Foundation
import PrephirencesDurable
import Testing

@Suite("Durable preferences, as a client uses them")
struct CanaryTests {
  @Test func clientKeepsSettings() async {
    await #expect(processExitsWith: .success) {
      try await inOwnHome {
        try #require(useKeys(Settings.settings) == 9091)
        try #require(Settings.settings[Settings.level] == .debug)
        try #require(Settings.settings[Settings.address].port == 9091)
        try #require(try useFailures(Settings.settings) == 9090)
        try #require(try useTransactions(Settings.settings))
        try #require(Settings.settings[Settings.port] == 80)
        try #require(await useTasks() > 0)
        // The value just set, and the last one of a task.
        let sum = useUserDefaults(DurablePreferences(suiteName: "other"))
        try #require((9091...9094).contains(sum))
      }
    }
  }

  @Test func clientIsNotified() async {
    await #expect(processExitsWith: .success) {
      try await inOwnHome {
        let settings = Settings.settings
        let writer = Task {
          while !Task.isCancelled {
            settings.set(dictionary: ["host": "\(UInt64.random(in: 0...(.max)))", "theme": "dark"])
            settings[Settings.port] = Int.random(in: 1_025...60_000)
            try await Task.sleep(for: .milliseconds(1))
          }
        }
        try #require(await observe(settings).count == 2)
        writer.cancel()
      }
    }
  }
}

/// Gives this process a home of its own; for exit tests.
private func inOwnHome(_ body: () async throws -> Void) async throws {
  let folder = URL.temporaryDirectory.appending(path: "durable-canary.\(UUID().uuidString)")
  try FileManager.default.createDirectory(
    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  defer { try? FileManager.default.removeItem(at: folder) }
  setenv("HOME", folder.path, 1)
  setenv("XDG_CONFIG_HOME", folder.path, 1)
  try await body()
}
