import Configuration
import ConfigurationKeychain
import ConfigurationPreferences
import Foundation
import Glibc
import Keychain
import PrephirencesDurable
import Synchronization

/// The providers for swift-configuration, compared with what they read.
struct ConfigurationBenchmarks {
  struct Failure: Error {}

  let effort: Effort

  /// The program VaultPeer.
  let peer: String

  /// An empty folder on a disk.
  let folder: String

  private static let group = "Providers for swift-configuration"
  private static let count = 1000

  func run() throws -> [Figure] {
    let path = folder + "/configuration.db"
    let process = try Conversation(peer, path)
    defer { process.end() }
    _ = try process.ask("fill \(Self.count) 40", within: 60)
    _ = try process.ask("stamp 1 40")
    return try secrets(path) + preferences() + watching(path, process)
  }

  private func secrets(_ path: String) throws -> [Figure] {
    let vault = Vault(configuration: .init(path: path))
    let keychain = KeychainPreferences(service: "peer-40", store: vault)
    let names = (0..<Self.count).map { "account-\($0)" }
    let keys = names.map { AbsoluteConfigKey([$0]) }
    let provider = try waiting {
      try await KeychainProvider(service: "peer-40", keys: keys, vault: vault)
    }
    // Not the items that the other one has just read: their pages are kept.
    let direct = { (call: Int) in
      guard try keychain.string(for: names[(call * 7919 + 499) % Self.count]) != nil else {
        throw Failure()
      }
    }
    let value = try Comparison.measure(
      rounds: effort.shortRounds, batch: 20,
      { call in
        let found = try provider.value(forKey: keys[call * 7919 % Self.count], type: .string)
        guard found.value != nil else { throw Failure() }
      }, direct)
    let config = ConfigReader(provider: provider)
    let readerKeys = names.map { ConfigKey([$0]) }
    let reader = try Comparison.measure(
      rounds: effort.shortRounds, batch: 20,
      { call in _ = try config.requiredString(forKey: readerKeys[call * 7919 % Self.count]) },
      direct)
    let other = try Comparison.measure(
      rounds: effort.shortRounds, batch: 20,
      { call in
        let found = try provider.value(forKey: ["http", "port"], type: .int)
        guard found.value == nil else { throw Failure() }
      }, direct)
    return [
      Figure(
        Self.group, "a secret, by the provider", over: "`KeychainPreferences`", value, atMost: 1.3),
      Figure(
        Self.group, "a secret, by `requiredString`", over: "`KeychainPreferences`", reader,
        atMost: nil),
      Figure(
        Self.group, "a key that is not declared", over: "`KeychainPreferences`", other, atMost: nil),
    ]
  }

  private func preferences() throws -> [Figure] {
    let settings = DurablePreferences(suiteName: "configuration")
    try settings.storeObjects(["http.port": 8080, "host": "www.example.com"])
    let provider = PreferencesProvider(settings)
    let key: AbsoluteConfigKey = ["http", "port"]
    let text: AbsoluteConfigKey = ["host"]
    let number = try Comparison.measure(
      rounds: effort.shortRounds, batch: 1000,
      { _ in keep(try provider.value(forKey: key, type: .int)) },
      { _ in keep(try settings.fetchObject(forKey: "http.port") as? Int) })
    let string = try Comparison.measure(
      rounds: effort.shortRounds, batch: 1000,
      { _ in keep(try provider.value(forKey: text, type: .string)) },
      { _ in keep(try settings.fetchObject(forKey: "host") as? String) })
    return [
      Figure(
        Self.group, "an integer, by the provider", over: "`DurablePreferences`", number, atMost: nil
      ),
      Figure(
        Self.group, "text, by the provider", over: "`DurablePreferences`", string, atMost: nil),
    ]
  }

  /// How long after another process began to store a secret a watcher has it.
  private func watching(_ path: String, _ process: Conversation) throws -> [Figure] {
    let key: AbsoluteConfigKey = "stamp"
    let provider = try waiting {
      try await KeychainProvider(
        service: "peer-40", keys: [key], vault: Vault(configuration: .init(path: path)))
    }
    let arrived = DispatchSemaphore(value: 0)
    let times = Times()
    let task = Task {
      try await provider.watchValue(forKey: key, type: .int) { updates in
        for await update in updates {
          guard case .int(let began)? = try update.get().value?.content else { continue }
          times.append(Double(Self.now - began) / 1e9)
          arrived.signal()
        }
      }
    }
    defer { task.cancel() }
    guard arrived.wait(timeout: .now() + 10) == .success else { throw Failure() }
    var comparison = Comparison()
    for _ in 0...(effort.isQuick ? 200 : 1000) {
      let answer = try process.ask("stamp 1 40")
      guard answer.count == 2, arrived.wait(timeout: .now() + 10) == .success else {
        throw Failure()
      }
      comparison.reference.append(answer[1] / 1e9)
      usleep(2000)
    }
    // The first one was there before.
    for time in times.all.dropFirst() { comparison.subject.append(time) }
    let quantile = { (share: Double) in
      (comparison.subject.times.quantile(share), comparison.reference.times.quantile(share))
    }
    let late = quantile(0.99)
    return [
      Figure(
        Self.group, "a secret that another process stores, until a watcher has it",
        over: "that store itself", comparison, atMost: nil),
      Figure(
        group: Self.group, name: "a secret that another process stores, 99 of 100",
        reference: "that store itself, 99 of 100", ratio: late.0 / late.1,
        lowest: late.0 / late.1, highest: late.0 / late.1, target: nil, subjectMedian: late.0,
        referenceMedian: late.1, unit: .seconds),
    ]
  }

  /// Waits for a task; only this thread waits, and it is none of the pool.
  private func waiting<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let outcome = Outcome<Value>()
    let end = DispatchSemaphore(value: 0)
    Task {
      do { outcome.set(.success(try await body())) } catch { outcome.set(.failure(error)) }
      end.signal()
    }
    end.wait()
    return try outcome.get()
  }

  private final class Outcome<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>>(.failure(Failure()))

    func set(_ new: Result<Value, any Error>) { result.withLock { $0 = new } }

    func get() throws -> Value { try result.withLock { $0 }.get() }
  }

  private final class Times: Sendable {
    private let times = Mutex<[Double]>([])

    var all: [Double] { times.withLock { $0 } }

    func append(_ time: Double) { times.withLock { $0.append(time) } }
  }

  private static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
