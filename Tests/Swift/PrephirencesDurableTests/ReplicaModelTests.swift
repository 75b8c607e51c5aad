import Foundation
import Testing

/// Machines that write, send and receive in random order agree in the end, and lose nothing.
@Suite("Replicas of shared preferences", .timeLimit(.minutes(14)))
struct ReplicaModelTests {
  static let isThorough =
    ProcessInfo.processInfo.environment["PREPHIRENCES_THOROUGH"] == "1"

  /// A seed to try again, from `PREPHIRENCES_SEED`.
  private static let seed = ProcessInfo.processInfo.environment["PREPHIRENCES_SEED"]
    .flatMap(UInt64.init)

  @Test(arguments: 0..<4 as Range<UInt64>)
  func agree(_ group: UInt64) throws {
    let count: UInt64 = Self.isThorough ? 1500 : 75
    for seed in Self.seed.map({ $0...$0 }) ?? group * count...(group + 1) * count - 1 {
      var run = try ModelRun(seed: seed)
      do {
        try run.run(steps: 80)
      } catch {
        Issue.record(error, "seed \(seed)")
      }
    }
  }
}

/// An engine that was restored from an older snapshot gets back what any machine has.
@Suite("A restored engine", .timeLimit(.minutes(14)))
struct RestoredModelTests {
  /// All orders; unless all of them are tried, some.
  private static let plans: [RestoredRun.Plan] = {
    var plans: [RestoredRun.Plan] = []
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    for order in orders {
      for snapshots in [[0], [1], [0, 0], [0, 1], [1, 0]] {
        for back in snapshots.count == 1 ? 0...0 : 0...3 {
          for readsFirst in [false, true] {
            for isCut in [false, true] {
              plans.append(
                .init(
                  order: order, snapshots: snapshots, backBeforeSecond: back,
                  readsFirst: readsFirst, isCut: isCut))
            }
          }
        }
      }
    }
    if ReplicaModelTests.isThorough { return plans }
    return stride(from: Int.random(in: 0..<17), to: plans.count, by: 17).map { plans[$0] }
  }()

  @Test(arguments: plans)
  func hasWhatAnyMachineHas(_ plan: RestoredRun.Plan) throws {
    var run = try RestoredRun(plan)
    try run.run()
  }
}
