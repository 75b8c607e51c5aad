import Foundation
import Keychain

/// This checkout and another that was built, in turns: whole processes of `prefs`, and calls of the
/// library in two processes of VaultPeer.
struct BeforeBenchmarks {
  struct Programs {
    let prefs: String
    let vaultPeer: String
  }

  let now: Programs
  let before: Programs

  /// An empty folder on a disk.
  let folder: String

  let effort: Effort

  private let group = "Before and after"
  private let items = 1_000

  func run() throws -> [Figure] {
    // Each has a vault of its own making.
    let vaults = ["now", "before"].map { folder + "/" + $0 }
    for vault in vaults {
      try FileManager.default.createDirectory(
        atPath: vault, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    let peers = try zip([now, before], vaults).map { programs, vault in
      try Conversation(programs.vaultPeer, vault + "/vault")
    }
    defer { for peer in peers { peer.end() } }
    for peer in peers { _ = try peer.ask("fill \(items) 40", within: 300) }
    return try [wholeGet(vaults)] + calls(peers)
  }

  private func wholeGet(_ vaults: [String]) throws -> Figure {
    let commands = zip([now, before], vaults).map { programs, vault in
      ChildProcess(
        programs.prefs, "keychain", "get", "account-7", "--service", "peer-40", "--vault",
        vault + "/vault")
    }
    let comparison = try Comparison.measure(rounds: effort.processRounds) { _ in
      try commands[0].run()
    } _: { _ in
      try commands[1].run()
    }
    return Figure(
      group, "prefs keychain get, device key, whole process", over: "before", comparison,
      atMost: nil)
  }

  private func calls(_ peers: [Conversation]) throws -> [Figure] {
    let work = [
      ("get", "get 50 40 \(items)"), ("set, replacing", "update 5 40 \(items)"),
      ("set, adding", "add 5 40"), ("open and first get", "open 10 40 \(items)"),
      ("search", "search 20 40 \(items)"),
    ]
    return try work.flatMap { name, line in
      var processor = Comparison()
      var passed = Comparison()
      for round in 0...effort.rounds {
        let times = try peers.map { try $0.ask(line, within: 120) }
        guard round > 0, times.allSatisfy({ $0.count == 2 }) else { continue }
        processor.subject.append(times[0][0] / 1e9)
        processor.reference.append(times[1][0] / 1e9)
        passed.subject.append(times[0][1] / 1e9)
        passed.reference.append(times[1][1] / 1e9)
      }
      return [
        Figure(group, "library \(name) at 1,000 items", over: "before", passed, atMost: nil),
        Figure(
          group, "library \(name) at 1,000 items, processor time", over: "before", processor,
          atMost: nil),
      ]
    }
  }
}
