import Foundation

/// Many stores in one transaction, compared with a transaction for each.
struct TogetherBenchmarks {
  let vaults: BenchmarkVaults
  let effort: Effort

  /// The program VaultPeer.
  let peer: String

  private static let single = "vault, a transaction for each"
  private static let count = 100

  func run() throws -> Chart {
    let path = try vaults.copy(vaults.smallPath, "together.db")
    let process = try Conversation(peer, path)
    defer { process.end() }
    _ = try process.ask("fill \(Self.count) 40", within: 60)
    let work = "\(Self.count) 40 \(Self.count)"
    let bare = "bare-update \(Self.count) 40"
    let other = try Conversation(peer, vaults.copy(vaults.smallPath, "together-bare.db"))
    defer { other.end() }
    let samples = try Turns.measure(
      rounds: effort.rounds,
      [
        { _ in _ = try process.ask("batch " + work, within: 60) },
        { _ in _ = try process.ask("update " + work, within: 60) },
        { _ in _ = try other.ask(bare, within: 60) },
      ])
    return Chart(
      name: "together",
      question: "How long do \(Self.count) stores take, if they are one transaction?",
      remark: "Into a vault of 1,000 items, durably.", reference: Self.single,
      groups: [
        BarGroup(
          heading: nil,
          bars: [
            Bar("vault, one transaction", samples[0], isOurs: true),
            Bar(Self.single, samples[1], isOurs: true),
            Bar("\(Self.count) times a bare lock, append, sync and record", samples[2]),
          ], limit: nil)
      ])
  }
}
