import BareStore
import CPeer
import Foundation
import Keychain

/// One read and one write in a program, by the number of items: the vault, its bare parts, and
/// gnome-keyring through libsecret.
struct SizeBenchmarks {
  let vaults: BenchmarkVaults
  let effort: Effort

  /// The script that starts a keyring with many items, and the program that reads them.
  let keyring: [String]

  private static let bareGet = "bare reads of a page and a box, and three bare boxes"
  private static let bareSet = "a bare lock, append, sync and record"
  private static let peer = "gnome-keyring through libsecret"

  /// gnome-keyring writes its whole file at each change, so filling it takes the square of this.
  private var keyringLimit: Int { effort.isQuick ? 100 : 1_000 }

  private var keyringNotes: [String] {
    [
      "gnome-keyring at 10,000 items: from a file without a password; filling one would take hours.",
      effort.isQuick
        ? "Not measured in a quick run: gnome-keyring at 1,000 items; filling it takes half a minute."
        : "Not measured: gnome-keyring at 100,000 items, which it does not load within two minutes.",
    ]
  }

  func run() throws -> (charts: [Chart], figures: [Figure]) {
    var gets: [BarGroup] = []
    var sets: [BarGroup] = []
    var figures: [Figure] = []
    var stored = 0
    for size in vaults.sizes {
      if size <= keyringLimit {
        for number in stored..<size { try store(number) }
        stored = size
      }
      let (get, set) = try measure(size)
      let heading = "\(size.formatted()) items"
      gets.append(group(heading, Self.bareGet, get, atMost: 1.3))
      sets.append(group(heading, Self.bareSet, set, atMost: 1.5))
      if size == 1_000, size <= keyringLimit {
        figures = [
          figure("get at \(heading)", get, atMost: 1.0 / 20),
          figure("set at \(heading)", set, atMost: 1.0 / 40),
        ]
      }
    }
    let remark = "The store is open, and its file is on a disk."
    return (
      [
        Chart(
          name: "library-get", question: "How long does a program wait to read one secret?",
          remark: remark, reference: Self.bareGet, groups: gets, missing: keyringNotes),
        Chart(
          name: "library-set", question: "How long does a program wait to store one secret?",
          remark: remark + " Each is durable when it returns.", reference: Self.bareSet,
          groups: sets,
          missing: ["Not measured: gnome-keyring at 10,000 items and more; filling it takes hours."]
        ),
      ], figures
    )
  }

  /// Measures in turns: the vault, its bare parts, and the keyring up to a size.
  private func measure(_ size: Int) throws -> (get: [Samples], set: [Samples]) {
    let vault = BenchmarkVaults.handle(vaults.path(size))
    let bare = try BareStore(path: vaults.copy(vaults.path(size), "bare-\(size).db"))
    let number = { (call: Int) in call * 7919 % size }
    var gets: [(Int) throws -> Void] = [
      { try get(vault, number($0)) }, { try bare.get($0) },
    ]
    var sets: [(Int) throws -> Void] = [
      { try set(vault, number($0)) }, { _ in try bare.set() },
    ]
    var large: Conversation?
    defer { large?.end() }
    if size <= keyringLimit {
      gets.append { call in
        guard peer_lookup("bench", "account-\(number(call))") > 20 else {
          throw BenchmarkVaults.Failure()
        }
      }
      sets.append { try store(number($0)) }
    } else if size == 10_000 {
      let command = [keyring[0], vaults.folder + "/keyring", "\(size)"] + keyring.dropFirst()
      let peer = try Conversation(command)
      _ = try peer.ask("1 \(size)", within: 60)
      gets.append { _ in _ = try peer.ask("1 \(size)", within: 60) }
      large = peer
    }
    return (
      try Turns.measure(rounds: effort.rounds, batch: size > keyringLimit ? 5 : 20, gets),
      try Turns.measure(rounds: effort.rounds, batch: 3, sets)
    )
  }

  private func group(
    _ heading: String, _ limit: String, _ samples: [Samples], atMost target: Double
  ) -> BarGroup {
    var bars = [Bar("vault", samples[0], isOurs: true, atMost: target)]
    if samples.count > 2 { bars.append(Bar(Self.peer, samples[2])) }
    return BarGroup(
      heading: heading, bars: bars, limit: .init(label: limit, value: samples[1].median))
  }

  private func figure(_ name: String, _ samples: [Samples], atMost target: Double) -> Figure {
    var comparison = Comparison()
    comparison.subject = samples[0]
    comparison.reference = samples[2]
    return Figure("Keyring", "library " + name, over: Self.peer, comparison, atMost: target)
  }

  private func get(_ vault: Vault, _ number: Int) throws {
    guard let stored = try vault.secret(for: BenchmarkVaults.identity(number)),
      stored.secret.count > 20
    else { throw BenchmarkVaults.Failure() }
  }

  private func set(_ vault: Vault, _ number: Int) throws {
    try vault.set(
      Credential(BenchmarkVaults.identity(number)), secret: BenchmarkVaults.secret(number))
  }

  private func store(_ number: Int) throws {
    let secret = "secret number \(number), as long as a token"
    guard peer_store("bench", "account-\(number)", secret) else { throw BenchmarkVaults.Failure() }
  }
}
