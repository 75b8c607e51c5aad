internal import PreferencesDurable
internal import PreferencesShared
internal import PreferencesCore
internal import PrephirencesSystem

/// A shared store through this machine's copy of it.
struct CopyDomain: DomainStore {
  private let file: FileDomain
  private let copy: SharedCopy

  init(_ copy: SharedCopy) {
    self.copy = copy
    file = FileDomain(named: copy.suite.name)
  }

  func storedPath() throws -> String? {
    try copy.refresh()
    return try file.storedPath()
  }

  func expectedPath() throws -> String { try file.expectedPath() }

  func value(forKey key: String) throws -> Any? {
    try copy.refresh()
    return try file.value(forKey: key)
  }

  func pairs() throws -> ReadablePairs {
    try copy.refresh()
    return try file.pairs()
  }

  func set(_ value: Any?, forKey key: String) throws {
    copy.willChange(key)
    try file.set(value, forKey: key)
  }

  func removeDamagedKeys() throws { try file.removeDamagedKeys() }

  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws {
    if kind == .conditional { return try copy.decide(body) }
    copy.prepareChange()
    try file.change(kind) { _ in try body(self) }
  }

  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation] {
    // Changes of other machines come while this is kept.
    let shared = SharedPreferences(suiteName: copy.suite.name)
    let observations = try file.observe(keys, initial: initial, until: end, changes)
    return observations + [PreferenceObservation { withExtendedLifetime(shared) {} }]
  }

  var failureOfImport: PreferencesError? { file.failureOfImport }

  func synchronize() throws {
    try file.synchronize()
    try copy.send()
  }
}
