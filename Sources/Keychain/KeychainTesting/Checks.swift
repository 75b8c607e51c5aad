internal import KeychainCredentials
internal import KeychainSecrets
internal import Testing

func password(_ account: String, service: String = "service", group: String = "")
  -> CredentialIdentity
{
  .genericPassword(service: service, account: account, accessGroup: group)
}

extension CredentialStore {
  /// Stores text as a secret.
  @discardableResult
  func put(
    _ text: String, _ credential: Credential, mode: StoreMode = .addOrReplace
  ) throws -> Credential {
    try store(credential, secret: SecretBytes(copying: text), mode: mode)
  }

  @discardableResult
  func put(_ text: String, _ identity: CredentialIdentity) throws -> Credential {
    try put(text, Credential(identity))
  }

  /// Returns the secret as text.
  func text(_ identity: CredentialIdentity) throws -> String? {
    guard let item = try secret(for: identity) else { return nil }
    return item.secret.withBytes { $0.text }
  }

  func bytes(_ identity: CredentialIdentity) throws -> [UInt8]? {
    guard let item = try secret(for: identity) else { return nil }
    return item.secret.withBytes { $0.array }
  }

  func accounts(_ query: CredentialQuery) throws -> [String] {
    let result = try search(query)
    #expect(result.lockedCount == 0 && result.damaged.isEmpty && result.otherDeviceCount == 0)
    return result.credentials.map(\.identity.account)
  }
}

/// Expects a call to fail with a code.
func expect(
  _ code: KeychainError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) {
  let error = #expect(throws: KeychainError.self, sourceLocation: sourceLocation) { try body() }
  #expect(error?.code == code, sourceLocation: sourceLocation)
}

/// Waits up to a minute for a condition that another thread fulfils.
func eventually(_ condition: () -> Bool) async throws {
  for _ in 0..<6000 where !condition() { try await Task.sleep(for: .milliseconds(10)) }
}
