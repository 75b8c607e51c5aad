import Foundation
import Prephirences
import PrephirencesDurable
import SwiftyUserDefaults

/// `Defaults[\.key]`, compared with the durable preferences below it.
struct DurableFacades {
  let effort: Effort
  let suites: DurableSuites

  func figures() throws -> [Figure] {
    let durable = try suites.durable(1_000)
    let adapter = DefaultsAdapter<BenchmarkKeys>(
      defaults: DurableUserDefaults(durable), keyStore: BenchmarkKeys())
    let reference = "durable preferences"
    return [
      figure("Defaults[\\.key], get integer", over: "`integer(forKey:)` of " + reference) { _ in
        keep(adapter[\.number])
      } _: { _ in
        keep(durable.integer(forKey: "key 2"))
      },
      figure("Defaults[\\.key], get text", over: "`string(forKey:)` of " + reference) { _ in
        keep(adapter[\.text])
      } _: { _ in
        keep(durable.string(forKey: "key 3"))
      },
      figure("Defaults[\\.key], set integer", over: "`set` of " + reference, batch: 10) {
        adapter[\.number] = $0
      } _: {
        durable.set($0, forKey: "key 4")
      },
      figure("Defaults[\\.key], set text", over: "`set` of " + reference, batch: 10) {
        adapter[\.text] = "value \($0)"
      } _: {
        durable.set("value \($0)", forKey: "key 5")
      },
    ]
  }

  private func figure(
    _ name: String, over reference: String, batch: Int = 100, _ subject: (Int) -> Void,
    _ bare: (Int) -> Void
  ) -> Figure {
    let comparison = Comparison.measure(rounds: effort.shortRounds, batch: batch, subject, bare)
    return Figure(DurableBenchmarks.group, name, over: reference, comparison, atMost: 1.5)
  }
}

private struct BenchmarkKeys: DefaultsKeyStore {
  var number: DefaultsKey<Int> { .init("key 2", defaultValue: 0) }
  var text: DefaultsKey<String> { .init("key 3", defaultValue: "") }
}
