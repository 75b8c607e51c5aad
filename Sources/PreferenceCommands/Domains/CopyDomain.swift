internal import Prephirences
internal import PrephirencesFiles
internal import PrephirencesShared

/// A shared store through this machine's copy of it.
struct CopyDomain: DomainStore {
  /// How long a command waits until its changes are sent.
  private static let patience: Duration = .seconds(20)

  private let file: FileDomain
  private let suiteName: String

  init(suiteName: String) {
    self.suiteName = suiteName
    file = FileDomain(named: suiteName)
  }

  func storedPath() throws -> String? { try file.storedPath() }

  func expectedPath() throws -> String { try file.expectedPath() }

  func value(forKey key: String) throws -> Any? { try file.value(forKey: key) }

  func pairs() throws -> [(String, Any)] { try file.pairs() }

  func set(_ value: Any?, forKey key: String) throws { try file.set(value, forKey: key) }

  func change(_ body: (any DomainStore) throws -> Void) throws { try file.change(body) }

  func observe(
    _ keys: [String], initial: Bool, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation] {
    // Changes of other machines come while this is kept.
    let shared = SharedPreferences(suiteName: suiteName)
    let observations = try file.observe(keys, initial: initial, changes)
    return observations + [PreferenceObservation { withExtendedLifetime(shared) {} }]
  }

  var failureOfImport: PreferencesError? { file.failureOfImport }

  /// Waits until the changes are on the disk, and sent.
  func synchronize() throws {
    try file.synchronize()
    try SharedPreferences(suiteName: suiteName).flush(deadline: Self.patience)
  }
}
