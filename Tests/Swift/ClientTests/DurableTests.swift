import Foundation
import PrephirencesDurable
import Testing

@Suite("Durable preferences, as a client uses them")
struct DurableTests {
  @Test func clientKeepsSettings() async {
    await #expect(processExitsWith: .success) {
      try await inOwnHome {
        try #require(useKeys(ServerSettings.settings) == 9091)
        try #require(ServerSettings.settings[ServerSettings.level] == .debug)
        try #require(ServerSettings.settings[ServerSettings.address].port == 9091)
        try #require(try useFailures(ServerSettings.settings) == 9090)
        try #require(try useTransactions(ServerSettings.settings))
        try #require(ServerSettings.settings[ServerSettings.port] == 80)
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
        let settings = ServerSettings.settings
        let writer = Task {
          while !Task.isCancelled {
            settings.set(dictionary: ["host": "\(UInt64.random(in: 0...(.max)))", "theme": "dark"])
            settings[ServerSettings.port] = Int.random(in: 1_025...60_000)
            try await Task.sleep(for: .milliseconds(1))
          }
        }
        try #require(await observe(settings).count == 2)
        writer.cancel()
      }
    }
  }
}

// A program in Swift 6 mode that keeps its settings, compiled like a client's: with one import and
// without access to `package` declarations.

/// How much a program logs.
enum LogLevel: String, Sendable {
  case info, debug
}

/// Where a program listens.
struct Address: Codable, Hashable, Sendable {
  var host = "localhost"
  var port = 8080
}

/// The settings of a program.
enum ServerSettings {
  static let settings: DurablePreferences = DurablePreferences(suiteName: "com.example")

  static let port = DurablePreferences.Key<Int>("port", default: 8080)
  static let name = DurablePreferences.Key<String?>("name")
  static let level = DurablePreferences.Key<LogLevel>("level", default: .info)
  static let address = DurablePreferences.Key<Address>("address", default: Address())
  static let hosts = DurablePreferences.Key<[String]>("hosts", default: [])
}

/// Reads and sets values by typed keys, and by text.
func useKeys(_ settings: DurablePreferences) -> Int {
  settings[ServerSettings.port] = 9090
  settings[ServerSettings.port] += 1
  settings[ServerSettings.name] = nil
  settings[ServerSettings.level] = .debug
  settings[ServerSettings.hosts].append("example.org")
  settings[ServerSettings.address].port = settings[ServerSettings.port]
  settings["theme"] = "dark"
  settings.set(1.5, forKey: "scale")
  return settings.integer(forKey: "port") + (settings[ServerSettings.name]?.count ?? 0)
}

/// Uses the calls that throw.
func useFailures(_ settings: DurablePreferences) throws(PreferencesError) -> Int {
  try settings.open()
  try settings.storeObject(1, forKey: "count")
  try settings.set(9090, for: ServerSettings.port)
  guard try settings.fetchObject(forKey: "count") as? Int == 1 else { return 0 }
  try settings.synchronize()
  if let error = settings.lastError, error.code == .damaged { throw error }
  return try settings.value(for: ServerSettings.port)
}

/// Changes several keys together, and one by a closure.
func useTransactions(_ settings: DurablePreferences) throws -> Bool {
  try settings.transaction { transaction in
    try transaction.set("example.org", forKey: "host")
    try transaction.set(443, forKey: "port")
  }
  try settings.update(ServerSettings.port) { $0 += 1 }
  return try settings.replace(ServerSettings.port, expecting: 444, with: 80)
}

/// Uses the settings in tasks, and waits for changes.
func useTasks() async -> Int {
  await withTaskGroup(of: Int.self) { group in
    for number in 1...4 {
      group.addTask {
        ServerSettings.settings[ServerSettings.port] = number
        return ServerSettings.settings[ServerSettings.port]
      }
    }
    return await group.reduce(0, +)
  }
}

/// Passes settings to an API that asks for user defaults.
func useUserDefaults(_ settings: DurablePreferences) -> Int {
  let defaults: UserDefaults = DurableUserDefaults(settings)
  defaults.set(9090, forKey: "port")
  defaults["theme"] = "dark"
  let suite = DurableUserDefaults(suiteName: "com.example")
  let standard: UserDefaults = DurableUserDefaults.standard
  return defaults.integer(forKey: "port") + (suite?.integer(forKey: "port") ?? 0)
    + standard.integer(forKey: "port")
}

/// Is notified of changes, by other processes too.
func observe(_ settings: DurablePreferences) async -> [PreferenceObservation] {
  let text = settings.observe(forKey: "theme", initial: true) { change in
    print(change.newValue as? String ?? "light")
  }
  let typed = settings.observe(ServerSettings.port) { change in
    print(change.oldValue ?? 0, change.newValue)
  }
  for await change in settings.changes(forKeys: ["host", "port"]) where change.key == "host" {
    break
  }
  for await change in settings.changes(of: ServerSettings.port) where change.newValue > 1_024 {
    break
  }
  return [text, typed]
}
