import BareStore
import CPeer
import Foundation
import Keychain

/// Whole processes: `prefs keychain get`, compared with the command of the desktop's keyring and a
/// small program in Swift.
struct ProcessBenchmarks {
  let vaults: BenchmarkVaults
  let effort: Effort
  let programs: Programs

  struct Programs {
    let prefs: String
    let bareGet: String
    let peakMemory: String
  }

  private let group = "Process"
  private var lockedPath: String { vaults.folder + "/locked/vault" }
  private var barePath: String { vaults.folder + "/bare-get.db" }

  func run() throws -> [Figure] {
    try makeVaults()
    guard peer_store("process", "account-7", "secret number 7, as long as a token") else {
      throw BenchmarkVaults.Failure()
    }
    let locked = get(lockedPath)
    let secretTool = ChildProcess(
      "secret-tool", "lookup", "service", "process", "account", "account-7")
    let bare = ChildProcess(programs.bareGet, barePath)
    let overBare = try compare(get(vaults.smallPath), bare)
    let uncached = try self.uncached()
    try ChildProcess(
      programs.prefs, "keychain", "unlock", "--vault", lockedPath, "--passphrase-file",
      vaults.passphraseFile
    ).run()
    let cachedOverTool = try compare(locked, secretTool)
    let memory = try memory()
    try ChildProcess(programs.prefs, "keychain", "lock", "--all", "--vault", lockedPath).run()
    let tool = "secret-tool lookup on gnome-keyring"
    return [
      Figure(
        group, "get, device key", over: "a Swift program that opens two boxes of a file", overBare,
        atMost: nil),
      Figure(group, "get, passphrase cached", over: tool, cachedOverTool, atMost: 0.4),
      uncached, memory,
    ]
  }

  private func get(_ path: String) -> ChildProcess {
    ChildProcess(
      programs.prefs, "keychain", "get", "account-7", "--service", "bench", "--vault", path)
  }

  private func compare(_ one: ChildProcess, _ other: ChildProcess) throws -> Comparison {
    try Comparison.measure(rounds: effort.processRounds) { _ in
      try one.run()
    } _: { _ in
      try other.run()
    }
  }

  private func makeVaults() throws {
    try vaults.makeFolder((lockedPath as NSString).deletingLastPathComponent)
    let vault = BenchmarkVaults.handle(lockedPath, passphraseFile: vaults.passphraseFile)
    try vault.create(
      passphrase: BenchmarkVaults.passphrase(), keyFile: nil,
      device: true)
    for number in 0..<20 {
      try vault.set(
        Credential(BenchmarkVaults.identity(number)), secret: BenchmarkVaults.secret(number))
    }
    try BareStore.makeVaultForBareGet(barePath)
  }

  /// The passphrase opens a locked vault each time.
  private func uncached() throws -> Figure {
    let withFile = ChildProcess(
      programs.prefs, "keychain", "get", "account-7", "--service", "bench", "--vault", lockedPath,
      "--passphrase-file", vaults.passphraseFile)
    let comparison = try Comparison.measure(rounds: effort.slowRounds) { _ in
      try withFile.run()
    } _: { _ in
      _ = try PasswordHashBenchmark.times(1)
      try get(vaults.smallPath).run()
    }
    return Figure(
      group, "get, passphrase not cached", over: "one Argon2id evaluation and a get by device key",
      comparison, atMost: 1.1)
  }

  private func memory() throws -> Figure {
    var peaks = Samples()
    for _ in 0..<5 {
      let output = try ChildProcess(
        [programs.peakMemory] + get(vaults.largePath).command
      ).output()
      guard let kibibytes = Double(output.trimmingCharacters(in: .whitespacesAndNewlines)) else {
        throw BenchmarkVaults.Failure()
      }
      peaks.append(kibibytes * 1024)
    }
    return Figure(
      "Memory", "peak memory of get at \(vaults.large.formatted()) items", within: "25 MB",
      of: 25e6, peaks, unit: .bytes)
  }
}
