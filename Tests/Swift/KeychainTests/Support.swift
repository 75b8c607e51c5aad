internal import Foundation
internal import Keychain
internal import Synchronization

/// Returns preferences over a separate store.
func preferences(
  _ store: any CredentialStore = InMemoryCredentialStore(), group: String? = nil
) -> KeychainPreferences {
  KeychainPreferences(service: "tests", accessGroup: group, store: store)
}

/// A store that fails on request, and counts the requested changes.
final class FailingStore: CredentialStore {
  let content = InMemoryCredentialStore()
  private let state = Mutex<(failure: KeychainError?, writes: Int)>((nil, 0))

  var writes: Int { state.withLock(\.writes) }

  func fail(_ code: KeychainError.Code?) {
    state.withLock { $0.failure = code.map { KeychainError($0, "told to fail") } }
  }

  func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    try check()
    return try content.secret(for: identity)
  }

  func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    try check()
    return try content.credential(for: identity)
  }

  func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    var result = try content.search(query)
    if state.withLock(\.failure)?.code == .locked {
      result.lockedCount = result.credentials.count
      result.credentials = []
    } else {
      try check()
    }
    return result
  }

  func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    state.withLock { $0.writes += 1 }
    return try content.set(credential, secret: secret, mode: mode)
  }

  func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    state.withLock { $0.writes += 1 }
    return try content.update(identity, with: update, expectedVersion: expectedVersion)
  }

  func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    state.withLock { $0.writes += 1 }
    return try content.rename(identity, to: newIdentity, expectedVersion: expectedVersion)
  }

  func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    state.withLock { $0.writes += 1 }
    return try content.remove(identity, expectedVersion: expectedVersion)
  }

  func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    content.observe(observer)
  }

  private func check() throws(KeychainError) {
    if let failure = state.withLock(\.failure) { throw failure }
  }
}

struct Account: Codable, Equatable, Sendable {
  enum Role: String, Codable { case admin, guest }

  var name = "na\"me\n\0"
  var role = Role.guest
  var limits: [Double] = [.infinity, -.infinity, 1.5, -0.0]
  var since = Date(timeIntervalSinceReferenceDate: 123_456_789.123456)
  var key = Data([0, 255])
  var nested: [String: [Int?]] = ["a": [1, nil]]
}

final class Session: Codable {
  var token = "t"
}
