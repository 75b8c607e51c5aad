import Foundation
import Testing

/// Machines that write, send and receive in random order agree in the end, and lose nothing.
@Suite("Replicas of shared preferences", .timeLimit(.minutes(14)))
struct ReplicaModelTests {
  private static let isThorough =
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
