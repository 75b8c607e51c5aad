import ArgumentParser
import Foundation

/// Measures, and writes the results; `Scripts/bench` prepares what it needs.
@main
struct Benchmarks: ParsableCommand {
  @Option(help: "The release `prefs`") var prefs: String
  @Option(help: "The folder of the other programs of this package") var programs: String
  @Option(help: "The folder of this package's Peers") var peers: String
  @Option(help: "A program in C that does nothing") var empty: String
  @Option(help: "A Python that has keyrings.cryptfile") var python: String?
  @Option(help: "The port of an empty etcd on this machine") var etcd: UInt16?
  @Option(help: "Another checkout that was built, to compare with") var before: String?
  @Option(help: "An empty folder for vaults, on a disk") var scratch: String
  @Option(help: "An empty folder for filling vaults, in memory") var memory: String
  @Option(help: "Where the results go") var output: String
  @Option(help: "Where the page of the documentation goes") var page: String?
  @Flag(help: "Fewer items and rounds") var quick = false
  @Flag(help: "Fail if a target is missed") var check = false
  @Option(help: "Only one part") var only: Part?

  enum Part: String, CaseIterable, ExpressibleByArgument {
    // Sizes first: gnome-keyring is as slow as all its items.
    case sizes, peers, processes, helpers, preferences, memory, saving, durable, shared, library,
      writers, together, batches, configuration
    case secretService = "secret-service"
    case before

    var usesVaults: Bool {
      [.sizes, .processes, .helpers, .library, .writers, .together, .batches].contains(self)
    }

    /// What is measured, for who waits.
    var work: String {
      switch self {
      case .sizes: "one read and one store in a program, by the number of secrets"
      case .peers: "one read and one store a process, and other programs that keep secrets"
      case .processes: "one read a process, from a locked vault too"
      case .helpers: "git's helper, many times in a row"
      case .preferences: "stores of preferences, and what they are made of"
      case .memory: "preferences in memory"
      case .saving: "saving a preference, and UserDefaults"
      case .durable: "durable preferences, and UserDefaults"
      case .shared: "shared preferences, and bare calls of etcd"
      case .library: "adding, listing, opening and compacting a vault"
      case .writers: "several processes that store at the same time"
      case .together: "a hundred stores in one transaction"
      case .batches: "importing many secrets, and changing the passphrase"
      case .configuration: "providers of swift-configuration"
      case .secretService: "the desktop's keyring, and libsecret"
      case .before: "this checkout and the other in turns"
      }
    }
  }

  func run() throws {
    let effort = Effort(isQuick: quick)
    let vaults = BenchmarkVaults(folder: scratch, memory: memory, large: quick ? 10_000 : 100_000)
    var report = try Report(
      machine: Machine(folder: scratch), version: version(), vaultFormat: vaults.format(),
      isQuick: quick, figures: [], charts: [])
    try vaults.writePassphraseFile()
    let parts = only.map { [$0] } ?? Part.allCases.filter { $0 != .before || before != nil }
    if parts.contains(where: \.usesVaults) {
      try step("filling the vaults") { try vaults.make() }
    }
    for part in parts {
      do {
        try step("\(part.rawValue): \(part.work)") {
          let results = try results(of: part, vaults, effort)
          report.charts += results.charts
          report.figures += results.charts.flatMap(\.figures) + results.figures
        }
      } catch {
        report.failures.append("\(part.rawValue): \(error)")
      }
      // Written after each part, so that an interruption keeps the earlier results.
      report.machine.loadAfter = Machine.load
      try report.write(to: output, name: "results")
    }
    if let page { try report.write(to: page, name: "Benchmarks") }
    print(report.markdown(folder: "results/"), terminator: "")
    for failure in report.failures { say("not measured: " + failure) }
    if !report.failures.isEmpty || (check && !report.missed.isEmpty) { throw ExitCode.failure }
  }

  private func results(
    of part: Part, _ vaults: BenchmarkVaults, _ effort: Effort
  ) throws -> (charts: [Chart], figures: [Figure]) {
    let suites = DurableSuites(folder: scratch)
    switch part {
    case .preferences: return ([], try PreferenceBenchmarks(effort: effort).run())
    case .memory: return ([try MemoryBenchmarks(effort: effort).run()], [])
    case .saving: return ([try SavingBenchmarks(effort: effort, suites: suites).run()], [])
    case .durable:
      let peer = program("PreferencePeer")
      return ([], try DurableBenchmarks(effort: effort, peer: peer, folder: scratch).run())
    case .shared:
      guard let etcd else { throw ValidationError("etcd is not installed") }
      let shared = SharedBenchmarks(
        effort: effort, peer: program("SharedPeer"), folder: scratch, port: etcd)
      return ([], try shared.run())
    case .library: return try LibraryBenchmarks(vaults: vaults, effort: effort).run()
    case .configuration:
      let configuration = ConfigurationBenchmarks(
        effort: effort, peer: program("VaultPeer"), folder: scratch)
      return ([], try configuration.run())
    case .batches: return try BatchBenchmarks(vaults: vaults, effort: effort).run()
    case .sizes:
      let keyring = [peers + "/keyring", program("KeyringPeer")]
      return try SizeBenchmarks(vaults: vaults, effort: effort, keyring: keyring).run()
    case .writers:
      let writers = WriterBenchmarks(vaults: vaults, effort: effort, peer: program("VaultPeer"))
      return ([try writers.run()], [])
    case .together:
      let together = TogetherBenchmarks(vaults: vaults, effort: effort, peer: program("VaultPeer"))
      return ([try together.run()], [])
    case .peers:
      let setup = PeerSetup(
        folder: scratch + "/peers", cryptfile: python.map { [$0, peers + "/cryptfile.py"] })
      let benchmarks = PeerBenchmarks(
        vaults: vaults, effort: effort, prefs: prefs, peers: setup, empty: empty)
      return try benchmarks.run()
    case .secretService:
      return ([], try SecretServiceBenchmarks(effort: effort, prefs: prefs).run())
    case .processes:
      let programs = ProcessBenchmarks.Programs(
        prefs: prefs, bareGet: program("BareGet"), peakMemory: program("PeakMemory"))
      return ([], try ProcessBenchmarks(vaults: vaults, effort: effort, programs: programs).run())
    case .helpers:
      return ([], try HelperBenchmarks(vaults: vaults, effort: effort, prefs: prefs).run())
    case .before:
      guard let before else { throw ValidationError("--only before needs --before") }
      // Copied as this checkout's is.
      let old = scratch + "/prefs-before"
      try FileManager.default.copyItem(atPath: before + "/.build/release/prefs", toPath: old)
      let comparison = BeforeBenchmarks(
        now: .init(prefs: prefs, vaultPeer: program("VaultPeer")),
        before: .init(
          prefs: old,
          vaultPeer: before + "/Scripts/Benchmarks/.build/release/VaultPeer"),
        folder: scratch + "/compared", effort: effort)
      return ([], try comparison.run())
    }
  }

  private func program(_ name: String) -> String { programs + "/" + name }

  /// Returns the version of `prefs`; the lines below it name what it is linked with.
  private func version() throws -> String {
    let output = try ChildProcess(prefs, "--version").output()
    return String(output.split(separator: "\n").first ?? "")
  }

  private func step(_ work: String, _ body: () throws -> Void) throws {
    say(work)
    let time = try Stopwatch.time(body)
    say("  took \(Int(time.rounded())) s")
  }

  private func say(_ text: String) {
    FileHandle.standardError.write(Data("==> \(text)\n".utf8))
  }
}
