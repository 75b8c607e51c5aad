#if ServiceLifecycleSupport
import EtcdTesting
import Foundation
import Logging
import MetricsTestKit
import PreferencesShared
import PrephirencesSystem
import ServiceLifecycle
import ServiceLifecyclePreferences
import ServiceLifecycleTestKit
import Synchronization
import Testing

@Suite("Shared preferences as a service", .timeLimit(.minutes(3)))
struct SharedPreferencesServiceTests {
  /// A machine with preferences that etcd keeps, and what its service says.
  private final class Machine: Sendable {
    let folder: String
    let preferences: SharedPreferences
    let lines = LogLines()
    let metrics = TestMetrics()

    let environment: EnvironmentVariables

    init(_ address: String?) throws {
      folder = NSTemporaryDirectory() + "service-\(UUID().uuidString)"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      environment = EnvironmentVariables(["HOME": folder, "XDG_CONFIG_HOME": folder])
      if let address { try Self.share(address, environment) }
      preferences = SharedPreferences(
        suiteName: "fleet", folder: nil, environment: environment, conflicts: nil)
    }

    /// Shares the preferences as another program does.
    func share(_ address: String) throws {
      try SharingConfiguration(address: address).save(suiteName: "fleet", environment: environment)
    }

    private static func share(_ address: String, _ environment: EnvironmentVariables) throws {
      try SharedPreferences.share(
        suiteName: "fleet", with: SharingConfiguration(address: address), folder: nil,
        environment: environment)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func service(flushing deadline: Duration = .seconds(20)) -> SharedPreferencesService {
      SharedPreferencesService(
        preferences, flushDeadline: deadline, reportInterval: .milliseconds(50),
        logger: Logger(label: "test") { _ in lines }, metrics: metrics)
    }

    func lastValue(of label: String) -> Double? {
      try? metrics.expectGauge(label, [("suite", "fleet")]).lastValue
    }
  }

  private func waitUntil(
    sourceLocation: SourceLocation = #_sourceLocation, _ isDone: () throws -> Bool
  ) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while try !isDone() {
      guard .now < end else {
        Issue.record("not in time", sourceLocation: sourceLocation)
        throw CancellationError()
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  @Test func gracefulShutdownSendsWhatIsUnsent() async throws {
    let server = try EtcdServer()
    let one = try Machine(server.storeAddress())
    let two = try Machine(server.storeAddress())
    let service = one.service()
    try await testGracefulShutdown { trigger in
      async let run: Void = service.run()
      try await waitUntil {
        one.lastValue(of: "shared_preferences_last_contact_age_seconds") != nil
      }
      one.preferences["key"] = 1
      trigger.triggerGracefulShutdown()
      try await run
    }
    #expect(try one.preferences.status().unsentKeys == 0)
    #expect(one.lastValue(of: "shared_preferences_unsent_keys") == 0)
    #expect(one.lastValue(of: "shared_preferences_conflicts") == 0)
    #expect(one.lines.all.allSatisfy { $0.level == .debug })
    let age = try #require(one.lastValue(of: "shared_preferences_last_contact_age_seconds"))
    #expect((0..<150).contains(age))
    try await waitUntil { two.preferences["key"] as? Int == 1 }
  }

  @Test func theLossOfTheNetworkDoesNotEndIt() async throws {
    let server = try EtcdServer()
    let one = try Machine(server.storeAddress())
    let service = one.service(flushing: .milliseconds(200))
    let hasEnded = Flag()
    try await testGracefulShutdown { trigger in
      async let run: Void = {
        try await service.run()
        hasEnded.set()
      }()
      try await waitUntil { try one.preferences.status().lastContact != nil }
      server.kill()
      one.preferences["key"] = "ypsilon"
      try await waitUntil { one.lines.all.contains { $0.text.contains("not in step") } }
      try await waitUntil { one.lastValue(of: "shared_preferences_unsent_keys") == 1 }
      #expect(!hasEnded.isSet)
      trigger.triggerGracefulShutdown()
      try await run
    }
    let said = try #require(one.lines.all.last { $0.level == .info })
    #expect(said.text.contains("stay unsent") && said.metadata["preferences.unsent_keys"] == "1")
    #expect(said.metadata["preferences.suite"] == "fleet" && said.metadata["error.code"] != nil)
    #expect(one.lines.all.allSatisfy { $0.level <= .info && !"\($0)".contains("ypsilon") })
    #expect(try one.preferences.status().unsentKeys == 1)
  }

  @Test func aCancelledServiceEndsWithoutWaiting() async throws {
    let server = try EtcdServer()
    let one = try Machine(server.storeAddress())
    let service = one.service(flushing: .seconds(3600))
    server.kill()
    one.preferences["key"] = 1
    let task = Task { try await service.run() }
    try await Task.sleep(for: .milliseconds(100))
    task.cancel()
    try await task.value
    #expect(try one.preferences.status().unsentKeys == 1)
  }

  @Test func aCancelledShutdownEndsWithoutWaiting() async throws {
    let server = try EtcdServer()
    let one = try Machine(server.storeAddress())
    let service = one.service(flushing: .seconds(3600))
    try await testGracefulShutdown { trigger in
      let task = Task { try await service.run() }
      try await waitUntil { try one.preferences.status().lastContact != nil }
      server.kill()
      one.preferences["key"] = 1
      trigger.triggerGracefulShutdown()
      try await waitUntil { one.lines.all.contains { $0.text.contains("Waiting for unsent") } }
      task.cancel()
      try await task.value
    }
    #expect(one.lines.all.last?.text == "Unsent preferences were not waited for")
    #expect(try one.preferences.status().unsentKeys == 1)
  }

  @Test func aSuiteThatIsSharedLaterIsKeptInStep() async throws {
    let server = try EtcdServer()
    let one = try Machine(nil)
    one.preferences["key"] = 1
    let service = one.service()
    try await testGracefulShutdown { trigger in
      async let run: Void = service.run()
      try await waitUntil { one.lines.all.contains { $0.text == "Preferences are not shared" } }
      try one.share(server.storeAddress())
      try await waitUntil { one.lines.all.last?.text == "Shared preferences are in step" }
      trigger.triggerGracefulShutdown()
      try await run
    }
    #expect(try one.preferences.status().unsentKeys == 0)
  }

  @Test func itRunsInAGroup() async throws {
    let server = try EtcdServer()
    let one = try Machine(server.storeAddress())
    let group = ServiceGroup(
      services: [one.service()], logger: Logger(label: "test") { _ in LogLines() })
    async let run: Void = group.run()
    try await waitUntil { try one.preferences.status().lastContact != nil }
    await group.triggerGracefulShutdown()
    try await run
  }
}

private final class Flag: Sendable {
  private let value = Mutex(false)

  var isSet: Bool { value.withLock { $0 } }

  func set() { value.withLock { $0 = true } }
}

/// What was logged.
private final class LogLines: LogHandler {
  struct Line: Sendable {
    let level: Logger.Level
    let text: String
    let metadata: [String: String]
  }

  private let lines = Mutex<[Line]>([])

  var all: [Line] { lines.withLock { $0 } }

  var logLevel: Logger.Level {
    get { .trace }
    set {}
  }

  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }

  func log(event: LogEvent) {
    let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
    lines.withLock {
      $0.append(Line(level: event.level, text: "\(event.message)", metadata: metadata))
    }
  }
}
#endif
