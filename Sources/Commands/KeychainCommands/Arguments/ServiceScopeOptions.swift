internal import ArgumentParser
internal import KeychainCredentials
internal import PrephirencesCommandLine

/// Whether a command without a service concerns all credentials of the user.
///
/// A host with its own service shows only that one: its users don't expect credentials of other
/// programs.
struct ServiceScopeOptions: QuickArguments {
  @Flag(
    help: .init(
      "Look at every service and server, not at '\(KeychainCommandContext.current.defaultService)' alone",
      visibility: KeychainCommandContext.current.ownService == nil ? .hidden : .default))
  var allServices = false

  mutating func read(_ line: inout QuickLine) throws {
    allServices = try line.flag("all-services")
  }

  /// Limits a search to the host's own service, unless it has a service or server.
  func narrow(_ query: CredentialQuery) -> CredentialQuery {
    allServices ? query : KeychainCommandContext.current.narrow(query)
  }

  /// Checks that no service is given together with the option for all.
  func check(isServiceNamed isNamed: Bool) throws {
    if allServices && isNamed { throw ValidationError(UsageText.allOrNamedServices) }
  }
}
