import EtcdTesting
import Foundation
import PrephirencesDurable
import PrephirencesShared
import PrephirencesSystem
import Synchronization
import Testing

/// A machine: a home of its own, which is removed when the tests end, as threads may still use it.
final class PreferencesMachine: Sendable {
  let folder: String
  let environment: EnvironmentVariables

  /// Creates a home; with an address, the suite `fleet` is configured in it.
  init(_ address: String? = nil, _ change: (inout SharingConfiguration) -> Void = { _ in }) throws {
    folder = Self.homes + "/" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    environment = EnvironmentVariables(["HOME": folder, "XDG_CONFIG_HOME": folder])
    guard let address else { return }
    var configuration = SharingConfiguration(address: address)
    change(&configuration)
    try configuration.save(suiteName: "fleet", environment: environment)
  }

  private static let homes: String = {
    atexit { try? FileManager.default.removeItem(atPath: PreferencesMachine.homesPath) }
    return homesPath
  }()

  private static let homesPath = NSTemporaryDirectory() + "machines-" + UUID().uuidString

  /// The preferences of the machine; while the object exists, it is in step.
  func preferences(
    _ suiteName: String = "fleet", conflicts: SharedPreferences.Resolver? = nil
  ) -> SharedPreferences {
    SharedPreferences(
      suiteName: suiteName, folder: nil, environment: environment, conflicts: conflicts)
  }

  /// The preferences of the machine, as a program has them that does not share.
  var durable: DurablePreferences {
    DurablePreferences(suiteName: "fleet", folder: nil, environment: environment)
  }

  /// The file of the configuration.
  var configurationPath: String { folder + "/prephirences/shared/fleet.json" }
}

/// An engine that the tests share: each uses a prefix of its own.
enum PreferencesEngine {
  private static let server = Result { try EtcdServer() }

  /// Returns the address of a new store.
  static func address() throws -> String {
    try server.get().storeAddress(prefix: "test-\(UUID().uuidString)")
  }
}

/// Values that closures on any thread receive, and for which a test waits.
final class Deliveries<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])
  private let arrived = DispatchSemaphore(value: 0)

  var all: [Value] { values.withLock { $0 } }

  func append(_ value: Value) {
    values.withLock { $0.append(value) }
    arrived.signal()
  }

  /// Waits until the values fulfil a condition.
  @discardableResult
  func wait(
    until isDone: ([Value]) -> Bool, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [Value] {
    let end = DispatchTime.now() + .seconds(20)
    while true {
      let present = all
      if isDone(present) { return present }
      try #require(
        arrived.wait(timeout: end) == .success, "it did not happen: \(present)",
        sourceLocation: sourceLocation)
    }
  }
}

/// Waits until preferences fulfil a condition, which a change of any value can bring about.
func waitUntil(
  _ preferences: SharedPreferences, sourceLocation: SourceLocation = #_sourceLocation,
  _ isDone: @escaping (SharedPreferences) throws -> Bool
) throws {
  let changes = Deliveries<Void>()
  let observation = preferences.observeChanges { changes.append(()) }
  defer { observation.cancel() }
  try changes.wait(
    until: { _ in (try? isDone(preferences)) ?? false }, sourceLocation: sourceLocation)
}
