internal import Foundation
internal import TestPrograms
internal import Testing

/// Tests that need separate processes: reading again, user defaults, and anything that could stop a
/// process.
@Suite("Other processes")
struct ProcessTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Runs the tool with its own home, and returns its output; empty on success.
  private func run(
    _ arguments: String..., environment: [String: String] = [:]
  ) async throws -> String {
    try await run(program: "PreferencesTool", arguments, environment)
  }

  private func run(
    program: String, _ arguments: [String] = [], _ environment: [String: String] = [:]
  ) async throws -> String {
    let process = Process()
    process.executableURL = try TestPrograms.url(program)
    process.arguments = arguments
    process.environment = [
      "HOME": folder.path, "XDG_CONFIG_HOME": folder("config"), "SWIFT_BACKTRACE": "enable=no",
    ].merging(environment) { $1 }
    // Uses a file, which needs no reader while the process runs.
    let output = folder("output \(UUID())")
    _ = FileManager.default.createFile(atPath: output, contents: nil)
    process.standardError = try FileHandle(forWritingTo: URL(filePath: output))
    process.standardOutput = process.standardError
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in done.resume() }
      do { try process.run() } catch { done.resume(throwing: error) }
    }
    let text = try String(contentsOf: URL(filePath: output), encoding: .utf8)
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      return "\(process.terminationReason) \(process.terminationStatus): \(text)"
    }
    return ""
  }

  @Test func theCoreWorksWithoutFoundation() async throws {
    #expect(try await run(program: "CoreClient") == "")
  }

  @Test(arguments: ["defaults", "suite", "durable", "backed", "xml", "binary"])
  func valuesComeBackInAnotherProcess(_ store: String) async throws {
    let isSuite = store == "suite" || store == "durable"
    let name = isSuite ? "prephirences.test" : folder("a.plist")
    #expect(try await run("write", store, name) == "")
    #expect(try await run("read", store, name) == "")
    // Overwrites what was read.
    #expect(try await run("write", store, name) == "")
    #expect(try await run("read", store, name) == "")
  }

  @Test(arguments: ["defaults", "suite", "durable"])
  func userDefaultsAreCleared(_ store: String) async throws {
    #expect(try await run("write", store, "prephirences.test") == "")
    #expect(try await run("clear", store, "prephirences.test") == "")
    #expect(try await run("read", store, "prephirences.test") != "")
  }

  @Test(arguments: ["defaults", "durable", "backed"])
  func literalNilNeverHangs(_ store: String) async throws {
    #expect(try await run("nil", store, store == "backed" ? folder("a.plist") : "test") == "")
  }

  @Test(arguments: ["defaults", "backed"])
  func valuesThatCannotBeStoredAreRefused(_ store: String) async throws {
    #expect(try await run("refuse", store, store == "backed" ? folder("a.plist") : "test") == "")
  }

  @Test func processesThatSaveAtOnceLoseNothing() async throws {
    #expect(try await run("race") == "")
  }

  @Test func manyValuesAreSavedAtOnce() async throws {
    #expect(try await run("import") == "")
  }

  @Test func addedSuitesAreSearched() async throws {
    #expect(try await run("suites") == "")
  }

  @Test func changesOfOtherProcessesArePosted() async throws {
    #expect(try await run("notify") == "")
  }

  @Test func urlsKeepAllTheirParts() async throws {
    #expect(try await run("urls") == "")
  }

  @Test func defaultsThatAreNotSavedAreReported() async throws {
    let message = try await run(
      "write", "defaults", environment: ["HOME": "/proc", "XDG_CONFIG_HOME": "/proc"])
    #expect(message.contains("could not be saved"))
  }

  @Test func alteredArchivesDoNotStopTheProcess() async throws {
    #expect(try await run("fuzz-archives") == "")
  }

  @Test func alteredPropertyListsDoNotStopTheProcess() async throws {
    #expect(try await run("fuzz-plists", folder.path) == "")
  }
}
