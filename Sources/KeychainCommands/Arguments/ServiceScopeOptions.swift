internal import ArgumentParser
internal import KeychainCredentials

/// Whether a command that finds credentials without a service looks at all of the user's.
///
/// A host with a service of its own shows that alone: what other programs stored is none of its users'
/// business while they use this one.
struct ServiceScopeOptions: ParsableArguments {
  @Flag(
    help: .init(
      "Look at every service and server, not at '\(KeychainCommandContext.current.defaultService)' alone",
      visibility: KeychainCommandContext.current.ownService == nil ? .hidden : .default))
  var allServices = false

  /// Narrows a search down to the host's own service, unless it names a service or server.
  func narrow(_ query: CredentialQuery) -> CredentialQuery {
    allServices ? query : KeychainCommandContext.current.narrow(query)
  }

  /// Checks that nothing else says which services are meant.
  func checkAlone(besides isNamed: Bool) throws {
    if allServices && isNamed { throw ValidationError(UsageText.allOrNamedServices) }
  }
}
