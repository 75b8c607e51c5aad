import KeychainCredentials
import KeychainVault
import KeychainVaultTesting
import Synchronization
import Testing

/// Records the changes that a vault reports to its observers.
final class ChangeRecorder: Sendable {
  private let seen = Mutex<[CredentialChange]>([])
  private let observation = Mutex<CredentialObservation?>(nil)

  init(_ vault: Vault) {
    let new = vault.observe { [seen = self] change in seen.add(change) }
    observation.withLock { $0 = new }
  }

  private func add(_ change: CredentialChange) { seen.withLock { $0.append(change) } }

  /// The changes reported so far.
  var changes: [CredentialChange] { seen.withLock { $0 } }

  func stop() { observation.withLock { $0 = nil } }

  /// Waits for this many changes, and then long enough for unexpected ones.
  func waited(for count: Int, thenStillFor rest: Duration = .milliseconds(60)) async throws
    -> [CredentialChange]
  {
    try await wait { $0.count >= count }
    try await Task.sleep(for: rest)
    return changes
  }

  /// Waits until these changes were reported, regardless of others.
  func isTold(_ expected: Set<CredentialChange>) async throws -> Bool {
    try await wait { expected.isSubset(of: $0) }
    return expected.isSubset(of: changes)
  }

  private func wait(until condition: ([CredentialChange]) -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while !condition(changes), .now < end { try await Task.sleep(for: .milliseconds(2)) }
  }
}

extension CredentialChange {
  static func added(_ account: String, group: String = "") -> Self {
    Self(.test(account, group: group), .added)
  }

  static func updated(_ account: String, group: String = "") -> Self {
    Self(.test(account, group: group), .updated)
  }

  static func removed(_ account: String, group: String = "") -> Self {
    Self(.test(account, group: group), .removed)
  }
}

/// Records the notices of a vault.
final class Told: Sendable {
  private let notices = Mutex<[Notice]>([])

  func add(_ notice: Notice) { notices.withLock { $0.append(notice) } }

  var kinds: [Notice.Kind] { notices.withLock { $0.map(\.kind) } }
  var messages: [String] { notices.withLock { $0.map(\.message) } }
}
