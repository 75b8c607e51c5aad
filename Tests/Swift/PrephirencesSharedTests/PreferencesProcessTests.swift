import Foundation
import PrephirencesDurable
import PrephirencesShared
import TestPrograms
import Testing

/// Programs that were ported from iOS, on one machine, and another machine that changes a value.
@Suite("Preferences of several processes and machines", .timeLimit(.minutes(2)))
struct PreferencesProcessTests {
  /// A program that waits for changes, and ends with its input.
  private final class Program {
    let lines = Deliveries<String>()
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(on machine: PreferencesMachine) throws {
      process.executableURL = try TestPrograms.url("UbiquitousSettings")
      process.arguments = ["wait"]
      process.environment = ["HOME": machine.folder, "XDG_CONFIG_HOME": machine.folder]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      let (lines, reading) = (lines, output.fileHandleForReading)
      Thread.detachNewThread {
        var rest = Data()
        while case let data = reading.availableData, !data.isEmpty {
          rest += data
          while let end = rest.firstIndex(of: 10) {
            lines.append(String(decoding: rest[..<end], as: UTF8.self))
            rest = Data(rest[(end + 1)...])
          }
        }
      }
    }

    func ask() throws { try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

    /// Returns how the program has ended, in words.
    func end() throws -> String {
      try input.fileHandleForWriting.close()
      process.waitUntilExit()
      let kind = process.terminationReason == .exit ? "exit" : "signal"
      return "\(kind) \(process.terminationStatus)"
    }
  }

  @Test func everyProcessIsNotified() async throws {
    let suite = "UbiquitousSettings.ubiquitous"
    let address = try PreferencesEngine.address()
    let (one, two) = (try PreferencesMachine(), try PreferencesMachine())
    for machine in [one, two] {
      try SharingConfiguration(address: address).save(
        suiteName: suite, environment: machine.environment)
    }
    let programs = [try Program(on: one), try Program(on: one)]
    for program in programs { try program.lines.wait { $0.contains("waiting") } }
    let other = two.preferences(suite)
    other["fontSize"] = 20.5
    try await other.flush(deadline: .seconds(20))
    for program in programs {
      try program.lines.wait { $0.contains("changed: fontSize") }
      try program.ask()
      try program.lines.wait { $0.contains("font size: 20.5") }
      #expect(try program.end() == "exit 0")
    }
  }

  @Test func anotherProcessSendsWhenTheSenderHasEnded() async throws {
    let suite = "UbiquitousSettings.ubiquitous"
    let address = try PreferencesEngine.address()
    let (one, two) = (try PreferencesMachine(), try PreferencesMachine())
    for machine in [one, two] {
      try SharingConfiguration(address: address).save(
        suiteName: suite, environment: machine.environment)
    }
    let first = try Program(on: one)
    try first.lines.wait { $0.contains("waiting") }
    let second = try Program(on: one)
    try second.lines.wait { $0.contains("waiting") }
    #expect(try first.end() == "exit 0")
    let other = two.preferences(suite)
    other["fontSize"] = 9.5
    try await other.flush(deadline: .seconds(20))
    try second.lines.wait { $0.contains("changed: fontSize") }
    #expect(try second.end() == "exit 0")
  }
}
