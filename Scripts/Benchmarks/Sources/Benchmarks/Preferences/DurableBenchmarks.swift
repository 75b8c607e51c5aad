import Foundation
import Prephirences
import PrephirencesDurable

/// Durable preferences, compared with `UserDefaults` and with their bare parts.
struct DurableBenchmarks {
  struct Failure: Error {}

  let effort: Effort

  /// The program PreferencePeer.
  let peer: String

  /// An empty folder on a disk.
  let folder: String

  static let group = "Durable preferences"

  /// The number of keys of the largest suite.
  private var most: Int { effort.isQuick ? 100_000 : 1_000_000 }

  func run() throws -> [Figure] {
    let suites = DurableSuites(folder: folder)
    return try DurableAccess(effort: effort, suites: suites).figures()
      + DurableFacades(effort: effort, suites: suites).figures()
      + DurableBulk(effort: effort, suites: suites).figures()
      + DurableProcesses(effort: effort, suites: suites, peer: peer, most: most).figures()
  }
}

/// The suites of a run: those of a number of keys are made once, in both kinds of preferences.
struct DurableSuites {
  let folder: String

  /// Returns the value of a key; it is not zero.
  static func value(_ number: Int) -> Any {
    number.isMultiple(of: 2) ? number + 1 as Any : "value \(number)" as Any
  }

  static func content(_ numbers: Range<Int>) -> [String: Any] {
    Dictionary(uniqueKeysWithValues: numbers.map { ("key \($0)", value($0)) })
  }

  /// Makes durable preferences with integers at even keys and text at odd ones.
  func durable(_ count: Int, name: String = "durable") throws -> DurablePreferences {
    let preferences = DurablePreferences(suiteName: "\(name)-\(count)")
    if preferences.object(forKey: "key 0") != nil { return preferences }
    for first in stride(from: 0, to: count, by: 50_000) {
      let part = Self.content(first..<min(first + 50_000, count))
      preferences.set(dictionary: part)
    }
    try preferences.synchronize()
    guard preferences.integer(forKey: "key 0") == 1 else { throw DurableBenchmarks.Failure() }
    return preferences
  }

  /// Makes user defaults with the same values, on the disk.
  func defaults(_ count: Int, name: String = "defaults") throws -> UserDefaults {
    guard let defaults = UserDefaults(suiteName: "\(name)-\(count)") else {
      throw DurableBenchmarks.Failure()
    }
    defaults.setPersistentDomain(Self.content(0..<count), forName: "\(name)-\(count)")
    guard defaults.synchronize() else { throw DurableBenchmarks.Failure() }
    return defaults
  }
}
