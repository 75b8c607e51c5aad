import Foundation

/// Several processes that write into one vault, compared with as many that append bare bytes.
struct WriterBenchmarks {
  let vaults: BenchmarkVaults
  let effort: Effort

  /// The program VaultPeer.
  let peer: String

  private static let limit = "as many processes with a bare lock, append, sync and record"

  func run() throws -> Chart {
    let folder = vaults.folder + "/writers"
    try vaults.makeFolder(folder)
    let path = try vaults.copy(vaults.smallPath, "writers/vault")
    let bare = try vaults.copy(vaults.smallPath, "writers/bare.db")
    // The items of the other benchmarks have other names.
    let filling = try Conversation(peer, path)
    _ = try filling.ask("fill 100 40", within: 60)
    filling.end()
    let groups = try [(1, 1.5), (4, 1.25), (16, 1.6)].map { count, target in
      let ours = try Writers(peer, path, count)
      let theirs = try Writers(peer, bare, count)
      defer {
        ours.end()
        theirs.end()
      }
      let each = max(2, (effort.isQuick ? 16 : 48) / count)
      let samples = try Turns.measure(
        rounds: effort.rounds,
        [
          { _ in try ours.write("update \(each) 40 100") },
          { _ in try theirs.write("bare-update \(each) 40") },
        ])
      let stores = Double(each * count)
      return BarGroup(
        heading: count == 1 ? "1 process" : "\(count) processes at the same time",
        bars: [Bar("vault", samples[0].divided(by: stores), isOurs: true, atMost: target)],
        limit: .init(label: Self.limit, value: samples[1].divided(by: stores).median))
    }
    return Chart(
      name: "writers", question: "How long does one store take, if several processes write?",
      remark:
        "All into one vault of 1,000 items, durably: the time from the first start to the last end, by store.",
      reference: Self.limit, groups: groups)
  }
}

/// Processes that work on one vault at the same time.
private struct Writers {
  private let all: [Conversation]

  init(_ peer: String, _ path: String, _ count: Int) throws {
    all = try (0..<count).map { _ in try Conversation(peer, path) }
  }

  func write(_ line: String) throws {
    for one in all { one.send(line + "\n") }
    for one in all {
      guard one.line(within: 120) != nil else { throw BenchmarkVaults.Failure() }
    }
  }

  func end() { for one in all { one.end() } }
}

extension Samples {
  fileprivate func divided(by count: Double) -> Samples {
    var samples = Samples()
    for time in times { samples.append(time / count) }
    return samples
  }
}
