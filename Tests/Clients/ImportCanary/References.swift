public import Keychain

/// Reads a secret that a configuration names.
public func length(of text: String, in store: any CredentialStore) throws -> Int {
  guard CredentialReference.isReference(text) else { return text.utf8.count }
  let reference = try CredentialReference(text)
  var resolver = ReferenceResolver(store: store, defaultService: "com.example.server")
  resolver.allowsExpired = reference.isOptional
  guard reference.belongs(to: "com.example.server", defaultService: resolver.defaultService),
    try resolver.identity(of: reference) != nil
  else { return 0 }
  return try resolver.resolve(reference).count
}

/// Writes a reference.
public func reference(to host: String, _ account: String?) -> String {
  let pattern = InternetPasswordPattern(server: host, protocol: "https", account: account)
  return CredentialReference(.internetPassword(pattern), field: .username).description
}

/// A configuration that the program trusts.
public final class ServerConfiguration: MutableDictionaryPreferences, OwnValuePreferences,
  @unchecked Sendable
{}

/// Reads preferences with references.
public func token(_ configuration: ServerConfiguration, _ store: any CredentialStore) -> String? {
  let settings = ReferencePreferences(
    configuration, resolving: ["token"], service: "com.example.server", store: store)
  if let error = settings.lastError as? KeychainError { return explain(error) }
  return (try? settings.string(for: "token")) ?? settings.token as? String
}
