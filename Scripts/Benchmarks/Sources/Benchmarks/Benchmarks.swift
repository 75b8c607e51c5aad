import ArgumentParser
import Foundation

/// Measures, and writes the results; `Scripts/bench` prepares what it needs.
@main
struct Benchmarks: ParsableCommand {
  @Option(help: "The release `prefs`") var prefs: String
  @Option(help: "The program BareGet") var bareGet: String
  @Option(help: "The program PeakMemory") var peakMemory: String
  @Option(help: "The program PreferencePeer") var preferencePeer: String
  @Option(help: "An empty folder for vaults, on a disk") var scratch: String
  @Option(help: "An empty folder for filling vaults, in memory") var memory: String
  @Option(help: "Where the results go") var output: String
  @Option(help: "Where the page of the documentation goes") var page: String?
  @Flag(help: "Fewer items and rounds") var quick = false
  @Flag(help: "Fail if a target is missed") var check = false
  @Option(help: "Only one part") var only: Part?

  enum Part: String, CaseIterable, ExpressibleByArgument {
    case preferences, durable, library, batches, keyring, processes
    case secretService = "secret-service"

    var usesVaults: Bool { ![.preferences, .durable, .secretService].contains(self) }
  }

  func run() throws {
    let effort = Effort(isQuick: quick)
    let vaults = BenchmarkVaults(folder: scratch, memory: memory, large: quick ? 10_000 : 100_000)
    var report = Report(machine: Machine(folder: scratch), isQuick: quick, figures: [])
    try vaults.writePassphraseFile()
    let parts = only.map { [$0] } ?? Part.allCases
    if parts.contains(where: \.usesVaults) {
      try step("filling the vaults") { try vaults.make() }
    }
    for part in parts {
      try step(part.rawValue) { report.figures += try figures(of: part, vaults, effort) }
      // Written after each group, so that a failure keeps the earlier results.
      report.machine.loadAfter = Machine.load
      try write(report)
    }
    if let page { try write(report, to: page, name: "Benchmarks") }
    print(report.markdown(chart: "results.svg"), terminator: "")
    if check, !report.missed.isEmpty { throw ExitCode.failure }
  }

  private func figures(
    of part: Part, _ vaults: BenchmarkVaults, _ effort: Effort
  ) throws -> [Figure] {
    switch part {
    case .preferences: return try PreferenceBenchmarks(effort: effort).run()
    case .durable:
      return try DurableBenchmarks(effort: effort, peer: preferencePeer, folder: scratch).run()
    case .library: return try LibraryBenchmarks(vaults: vaults, effort: effort).run()
    case .batches: return try BatchBenchmarks(vaults: vaults, effort: effort).run()
    case .keyring: return try KeyringBenchmarks(vaults: vaults, effort: effort).run()
    case .secretService: return try SecretServiceBenchmarks(effort: effort, prefs: prefs).run()
    case .processes:
      let programs = ProcessBenchmarks.Programs(
        prefs: prefs, bareGet: bareGet, peakMemory: peakMemory)
      return try ProcessBenchmarks(vaults: vaults, effort: effort, programs: programs).run()
    }
  }

  private func step(_ name: String, _ body: () throws -> Void) throws {
    let time = try Stopwatch.time(body)
    say("\(name): \(Int(time.rounded())) s")
  }

  private func say(_ text: String) {
    FileHandle.standardError.write(Data("==> \(text)\n".utf8))
  }

  private func write(_ report: Report) throws {
    try write(report, to: output, name: "results")
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let file = URL(filePath: output, directoryHint: .isDirectory).appending(path: "results.json")
    try encoder.encode(report).write(to: file)
  }

  /// Writes the results as a page, with the drawing next to it.
  private func write(_ report: Report, to path: String, name: String) throws {
    let folder = URL(filePath: path, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let page = report.markdown(chart: "\(name).svg")
    try Data(page.utf8).write(to: folder.appending(path: "\(name).md"))
    try Data(Chart(report).svg.utf8).write(to: folder.appending(path: "\(name).svg"))
  }
}
