// A program in Swift 6 mode that keeps its settings, compiled like a client's: with one import and
// without access to `package` declarations.
import Foundation
import PrephirencesDurable

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
enum Settings {
  static let settings: DurablePreferences = DurablePreferences(suiteName: "com.example")

  static let port = DurablePreferences.Key<Int>("port", default: 8080)
  static let name = DurablePreferences.Key<String?>("name")
  static let level = DurablePreferences.Key<LogLevel>("level", default: .info)
  static let address = DurablePreferences.Key<Address>("address", default: Address())
  static let hosts = DurablePreferences.Key<[String]>("hosts", default: [])
}

/// Reads and sets values by typed keys, and by text.
func useKeys(_ settings: DurablePreferences) -> Int {
  settings[Settings.port] = 9090
  settings[Settings.port] += 1
  settings[Settings.name] = nil
  settings[Settings.level] = .debug
  settings[Settings.hosts].append("example.org")
  settings[Settings.address].port = settings[Settings.port]
  settings["theme"] = "dark"
  settings.set(1.5, forKey: "scale")
  return settings.integer(forKey: "port") + (settings[Settings.name]?.count ?? 0)
}

/// Uses the calls that throw.
func useFailures(_ settings: DurablePreferences) throws(PreferencesError) -> Int {
  try settings.open()
  try settings.storeObject(1, forKey: "count")
  try settings.set(9090, for: Settings.port)
  guard try settings.fetchObject(forKey: "count") as? Int == 1 else { return 0 }
  try settings.synchronize()
  if let error = settings.lastError, error.code == .damaged { throw error }
  return try settings.value(for: Settings.port)
}

/// Changes several keys together, and one by a closure.
func useTransactions(_ settings: DurablePreferences) throws -> Bool {
  try settings.transaction { transaction in
    try transaction.set("example.org", forKey: "host")
    try transaction.set(443, forKey: "port")
  }
  try settings.update(Settings.port) { $0 += 1 }
  return try settings.replace(Settings.port, expecting: 444, with: 80)
}

/// Uses the settings in tasks, and waits for changes.
func useTasks() async -> Int {
  await withTaskGroup(of: Int.self) { group in
    for number in 1...4 {
      group.addTask {
        Settings.settings[Settings.port] = number
        return Settings.settings[Settings.port]
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
