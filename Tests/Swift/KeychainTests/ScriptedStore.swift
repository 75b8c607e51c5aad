internal import Keychain
internal import KeychainCredentials
internal import KeychainSecrets
internal import Synchronization

/// An in-memory store; before each call, a test may run code or fail the call.
final class ScriptedStore: BuiltInStore {
  enum Call: Hashable, Sendable {
    case read, search, write, remove
  }

  let content = InMemoryCredentialStore()
  let bindsToDevice: Bool
  private let state = Mutex(State())

  private struct State {
    var callCount = 0
    var script: (@Sendable (Int, Call) throws(KeychainError) -> Void)?
    var others: Set<CredentialIdentity> = []
    var long: Set<CredentialIdentity> = []
    var isMangling = false
  }

  init(bindsToDevice: Bool = false) { self.bindsToDevice = bindsToDevice }

  var callCount: Int { state.withLock(\.callCount) }

  /// Calls a closure with the number of each call, before the call.
  func script(_ script: (@Sendable (Int, Call) throws(KeychainError) -> Void)?) {
    state.withLock {
      $0.callCount = 0
      $0.script = script
    }
  }

  /// Fails one call, by its number.
  func fail(at number: Int) {
    script { (count, call) throws(KeychainError) in
      if count == number { throw KeychainError(.inputOutput, "told to fail") }
    }
  }

  /// Makes an item another program's.
  func attribute(_ identity: CredentialIdentity) {
    state.withLock { _ = $0.others.insert(identity) }
  }

  /// Gives a credential a comment that no store takes, as the desktop keyring may have it.
  func lengthen(_ identity: CredentialIdentity) {
    state.withLock { _ = $0.long.insert(identity) }
  }

  /// Drops the last byte of every later write.
  func mangle() { state.withLock { $0.isMangling = true } }

  private func begin(_ call: Call) throws(KeychainError) {
    let (count, script) = state.withLock { state in
      state.callCount += 1
      return (state.callCount, state.script)
    }
    try script?(count, call)
  }

  private func attributed(_ credential: Credential) -> Credential {
    var credential = credential
    credential.isOfOtherProgram = state.withLock { $0.others.contains(credential.identity) }
    if state.withLock({ $0.long.contains(credential.identity) }) {
      credential.comment = String(repeating: "c", count: Credential.maximumMetadataCount)
    }
    return credential
  }

  func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    try begin(.read)
    guard let stored = try content.secret(for: identity) else { return nil }
    let credential = attributed(stored.credential)
    return StoredSecret(credential: credential, secret: stored.takeSecret())
  }

  func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    try begin(.read)
    return try content.credential(for: identity).map(attributed)
  }

  func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    try begin(.search)
    var result = try content.search(query)
    result.credentials = result.credentials.map(attributed)
    return result
  }

  func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    try begin(.write)
    return try content.set(credential, secret: secret, mode: mode)
  }

  func set(
    _ request: StoreRequest, secret: borrowing SecretBytes
  ) throws(KeychainError) -> MergedCredential {
    try begin(.write)
    guard state.withLock(\.isMangling) else {
      return try content.set(request, secret: secret)
    }
    let text = secret.withBytes { String(decoding: $0.array.dropLast(), as: UTF8.self) }
    let shorter = try SecretBytes(copying: text)
    return try content.set(request, secret: shorter)
  }

  func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try begin(.write)
    return try content.update(identity, with: update, expectedVersion: expectedVersion)
  }

  func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try begin(.write)
    return try content.rename(identity, to: newIdentity, expectedVersion: expectedVersion)
  }

  func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    try begin(.remove)
    return try content.remove(identity, expectedVersion: expectedVersion)
  }

  func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    content.observe(observer)
  }
}
