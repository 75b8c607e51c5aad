import Foundation
import Keychain

/// One read and one write a process: `prefs`, and other programs that keep secrets.
struct PeerBenchmarks {
  let vaults: BenchmarkVaults
  let effort: Effort
  let prefs: String
  let peers: PeerSetup

  /// A program in C that does nothing.
  let empty: String

  private static let limit = "an empty process in C"
  private var deviceVault: String { vaults.folder + "/peers/device.db" }
  private var passphraseVault: String { vaults.folder + "/peers/passphrase.db" }
  private var secretFile: String { vaults.folder + "/peers/secret" }

  func run() throws -> (charts: [Chart], figures: [Figure]) {
    try makeVaults()
    let others = try peers.make()
    let quick = [device] + others.contestants.filter { !$0.hashes }
    let hashing = [hashed] + others.contestants.filter(\.hashes)
    let remark = "From the start of the program to its end. "
    var reading = try chart(
      "reading", "How long does reading one secret take, as a whole process?",
      remark + "No passphrase is hashed.", quick, over: PeerSetup.keyring, effort.processRounds,
      others.missing, \.read)
    count(&reading, quick)
    let writing = try chart(
      "writing", "How long does storing one secret take, as a whole process?",
      remark + "No passphrase is hashed.", quick, over: PeerSetup.keyring, effort.processRounds,
      others.missing, \.write)
    let charts = [
      reading, writing,
      try chart(
        "reading-hashed", "How long does reading take, if a passphrase is hashed each time?",
        remark + "What a hash costs an attacker differs: see the notes.", hashing,
        over: hashed.label, effort.hashRounds, others.missing, \.read),
      try chart(
        "writing-hashed", "How long does storing take, if a passphrase is hashed each time?",
        remark + "What a hash costs an attacker differs: see the notes.", hashing,
        over: hashed.label, effort.hashRounds, others.missing, \.write),
    ]
    return (
      charts,
      reading.figures("Process", "get, device key", device.label, over: "age", atMost: 1.8)
        + writing.figures("Process", "set, device key", device.label, over: "age", atMost: 1.8)
    )
  }

  private var device: Contestant {
    Contestant(
      label: "prefs, device key", isOurs: true, target: 0.4,
      read: ChildProcess([prefs, "keychain", "get"] + item(deviceVault)),
      write: ChildProcess([prefs, "keychain", "set"] + item(deviceVault)).reading(secretFile))
  }

  private var hashed: Contestant {
    let options = item(passphraseVault) + ["--passphrase-file", vaults.passphraseFile]
    return Contestant(
      label: "prefs, passphrase", isOurs: true,
      note: "hashes its passphrase by its default: Argon2id, 256 MiB",
      read: ChildProcess([prefs, "keychain", "get"] + options),
      write: ChildProcess([prefs, "keychain", "set"] + options).reading(secretFile), hashes: true)
  }

  private func item(_ vault: String) -> [String] {
    ["account-7", "--service", "bench", "--vault", vault]
  }

  private func makeVaults() throws {
    try vaults.makeFolder((deviceVault as NSString).deletingLastPathComponent)
    try Data(PeerSetup.secret.utf8).write(to: URL(filePath: secretFile))
    try device.write.run()
    let vault = BenchmarkVaults.handle(passphraseVault, passphraseFile: vaults.passphraseFile)
    try vault.create(passphrase: BenchmarkVaults.passphrase(), keyFile: nil, device: false)
    try hashed.write.run()
    for contestant in [device, hashed] {
      guard try contestant.read.output().contains(PeerSetup.secret) else {
        throw BenchmarkVaults.Failure()
      }
    }
  }

  private func chart(
    _ name: String, _ question: String, _ remark: String, _ contestants: [Contestant],
    over reference: String, _ rounds: Int, _ missing: [String],
    _ process: KeyPath<Contestant, ChildProcess>
  ) throws -> Chart {
    let least = ChildProcess(empty)
    let samples = try Turns.measure(
      rounds: rounds,
      contestants.map { contestant in
        { _ in try contestant[keyPath: process].run() }
      } + [{ _ in try least.run() }])
    let bars = zip(contestants, samples).map { contestant, samples in
      Bar(
        contestant.label, samples, isOurs: contestant.isOurs, atMost: contestant.target,
        note: contestant.note)
    }
    return Chart(
      name: name, question: question, remark: remark, reference: reference,
      groups: [
        BarGroup(
          heading: nil, bars: bars,
          limit: .init(label: Self.limit, value: samples.last?.median ?? .nan))
      ], missing: missing)
  }

  /// Adds the instructions of the programs that run as one process under valgrind.
  private func count(_ chart: inout Chart, _ contestants: [Contestant]) {
    guard let instructions = Instructions(scratch: vaults.folder) else {
      return chart.missing.append("Not counted: instructions, because valgrind is not installed.")
    }
    for (number, contestant) in contestants.enumerated()
    where contestant.isOurs || contestant.label == PeerSetup.keyring {
      chart.groups[0].bars[number].instructions = instructions.count(contestant.read)
    }
    chart.groups[0].limit?.instructions = instructions.count(ChildProcess(empty))
  }
}
