import Foundation
import Prephirences
import PrephirencesDurable

/// One saved preference: durable preferences, `UserDefaults`, and a bare transaction of SQLite.
struct SavingBenchmarks {
  let effort: Effort
  let suites: DurableSuites

  private static let limit = "a bare transaction of SQLite"
  private static let defaults = "UserDefaults, set and synchronize()"

  func run() throws -> Chart {
    let groups = try [(100, nil), (1_000, 1.0 / 30), (10_000, 1.0 / 300)].map {
      try group($0.0, atMost: $0.1)
    }
    return Chart(
      name: "saving", question: "How long does saving one preference take?",
      remark:
        "By the number of keys of the suite; afterwards the value survives the end of the process.",
      reference: Self.defaults, groups: groups)
  }

  private func group(_ count: Int, atMost target: Double?) throws -> BarGroup {
    let durable = try suites.durable(count)
    let defaults = try suites.defaults(count)
    let bare = try BarePreferences(path: suites.folder + "/bare-saving-\(count).db")
    try bare.insert(
      Dictionary(uniqueKeysWithValues: (0..<count).map { ("key \($0)", $0) }), generation: 1)
    let key = { (call: Int) in "key \(call * 14 % count)" }
    let samples = try Turns.measure(
      rounds: effort.rounds, batch: 3,
      [
        { durable.set($0 + 7, forKey: key($0)) },
        {
          defaults.set($0 + 7, forKey: key($0))
          defaults.synchronize()
        },
        { try bare.insert([key($0): $0 + 7], generation: Int64($0 + 2)) },
      ])
    return BarGroup(
      heading: "\(count.formatted()) keys",
      bars: [
        Bar("DurablePreferences, set", samples[0], isOurs: true, atMost: target),
        Bar(Self.defaults, samples[1]),
      ], limit: .init(label: Self.limit, value: samples[2].median))
  }
}
