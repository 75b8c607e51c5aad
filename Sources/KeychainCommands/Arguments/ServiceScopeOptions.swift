internal import ArgumentParser
internal import KeychainCredentials

/// Whether a command that is given no service looks at all credentials of the user.
///
/// A host with a service of its own shows only that one: its users don't expect what other programs stored.
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

  /// Checks that no service is named if all are meant.
  func check(isServiceNamed isNamed: Bool) throws {
    if allServices && isNamed { throw ValidationError(UsageText.allOrNamedServices) }
  }
}
