import Foundation
import PrephirencesDurable

/// Reads and writes of one key, compared with `UserDefaults`.
struct DurableAccess {
  let effort: Effort
  let suites: DurableSuites

  func figures() throws -> [Figure] {
    let durable = try suites.durable(1_000)
    let defaults = try suites.defaults(1_000)
    return gets(durable, defaults) + [unsaved(durable, defaults)]
  }

  private func gets(_ durable: DurablePreferences, _ defaults: UserDefaults) -> [Figure] {
    let integers = (0..<100).map { "key \($0 * 2)" }
    let texts = (0..<100).map { "key \($0 * 2 + 1)" }
    let reference = "the same of `UserDefaults`, which sees no other process"
    return [
      figure("get, object", over: reference, batch: 100, atMost: 3) {
        keep(durable.object(forKey: texts[$0 % 100]))
      } _: {
        keep(defaults.object(forKey: texts[$0 % 100]))
      },
      figure("get, integer", over: reference, batch: 100, atMost: 3) {
        keep(durable.integer(forKey: integers[$0 % 100]))
      } _: {
        keep(defaults.integer(forKey: integers[$0 % 100]))
      },
      figure("get, string", over: reference, batch: 100, atMost: 3) {
        keep(durable.string(forKey: texts[$0 % 100]))
      } _: {
        keep(defaults.string(forKey: texts[$0 % 100]))
      },
      figure("get, absent key", over: reference, batch: 100, atMost: 3) {
        keep(durable.object(forKey: $0.isMultiple(of: 2) ? "absent" : "missing"))
      } _: {
        keep(defaults.object(forKey: $0.isMultiple(of: 2) ? "absent" : "missing"))
      },
    ]
  }

  private func unsaved(_ durable: DurablePreferences, _ defaults: UserDefaults) -> Figure {
    figure("set", over: "`set` of `UserDefaults`, which loses the value", batch: 20, atMost: nil) {
      durable.set($0 + 7, forKey: "key \($0 * 14 % 1_000)")
    } _: {
      defaults.set($0 + 7, forKey: "key \($0 * 14 % 1_000)")
    }
  }

  private func figure(
    _ name: String, over reference: String, batch: Int, atMost target: Double?,
    _ subject: (Int) -> Void, _ bare: (Int) -> Void
  ) -> Figure {
    let comparison = Comparison.measure(rounds: effort.shortRounds, batch: batch, subject, bare)
    return Figure(DurableBenchmarks.group, name, over: reference, comparison, atMost: target)
  }
}
