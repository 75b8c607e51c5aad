import Foundation
import PrephirencesDurable

/// Many keys in one transaction, compared with the bare inserts.
struct DurableBulk {
  let effort: Effort
  let suites: DurableSuites

  func figures() throws -> [Figure] {
    let bulk = DurablePreferences(suiteName: "bulk")
    bulk.set(1, forKey: "first")
    let bare = try BarePreferences(path: suites.folder + "/bare-preferences.db")
    let comparison = try Comparison.measure(rounds: effort.rounds) { round in
      bulk.set(dictionary: Self.content(round))
      if let error = bulk.lastError { throw error }
    } _: { round in
      // The dictionary is made in both, as a program has to.
      try bare.insert(Self.content(round), generation: Int64(round))
    }
    return [
      Figure(
        DurableBenchmarks.group, "set(dictionary:) of 1,000 new keys",
        over: "bare inserts of them by SQLite's C functions in one transaction", comparison,
        atMost: 3)
    ]
  }

  private static func content(_ round: Int) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: (0..<1_000).map { ("round \(round), key \($0)", $0) })
  }
}
