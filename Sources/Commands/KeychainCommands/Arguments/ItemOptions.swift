internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCredentials
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The options that name a credential, except its account.
struct ItemOptions: QuickArguments {
  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: .init(
      "What the credential is for; '\(KeychainCommandContext.current.defaultService)' where one "
        + "must be named",
      valueName: "name"),
    completion: .services)
  var service: String?

  @Option(
    name: [.customShort("g"), .long], parsing: .unconditional,
    help: .init("The access group (default: the unnamed one)", valueName: "name"),
    completion: .accessGroups)
  var accessGroup: String?

  @Option(
    parsing: .unconditional,
    help: .init("The server of an internet password, instead of a service", valueName: "host"),
    completion: .servers)
  var server: String?

  @Option(
    name: .customLong("protocol"), parsing: .unconditional,
    help: .init("Its protocol, such as https", valueName: "name"),
    completion: .list(["ftp", "ftps", "http", "https", "imap", "imaps", "ldap", "smtp", "ssh"]))
  var protocolName: String?

  @Option(help: .init("Its port", valueName: "number"))
  var port: UInt16?

  @Option(parsing: .unconditional, help: .init("Its path on the server", valueName: "path"))
  var path: String?

  @Option(parsing: .unconditional, help: .init("Its security domain (realm)", valueName: "name"))
  var securityDomain: String?

  @Option(
    parsing: .unconditional,
    help: .init("Its authentication type, such as httpBasic", valueName: "name"))
  var authenticationType: String?

  mutating func read(_ line: inout QuickLine) throws {
    service = try line.option("service", "s")
    accessGroup = try line.option("access-group", "g")
    server = try line.option("server")
    protocolName = try line.option("protocol")
    port = try line.option("port", as: UInt16.init(argument:))
    path = try line.option("path")
    securityDomain = try line.option("security-domain")
    authenticationType = try line.option("authentication-type")
  }

  func validate() throws {
    if service != nil && server != nil {
      throw ValidationError(UsageText.serviceOrServer)
    }
    if server == nil, hasServerDetails {
      throw ValidationError(UsageText.serverMissing)
    }
  }

  private var hasServerDetails: Bool {
    port != nil || [protocolName, path, securityDomain, authenticationType].contains { $0 != nil }
  }

  /// Returns the identity with exactly the given names; other names of a server are empty.
  func identity(account: String, defaultService: String) -> CredentialIdentity {
    let group = accessGroup ?? ""
    guard let server else {
      return .genericPassword(
        service: service ?? defaultService, account: account, accessGroup: group)
    }
    let password = InternetPassword(
      server: server, protocol: protocolName ?? "", port: port ?? 0, path: path ?? "",
      account: account, securityDomain: securityDomain ?? "",
      authenticationType: authenticationType ?? "")
    return CredentialIdentity(.internetPassword(password), accessGroup: group)
  }

  /// Returns a search for the given names; without an access group, in the unnamed one.
  func query(account: String?, attributes: CredentialAttributes = [:]) -> CredentialQuery {
    CredentialQuery(
      accessGroup: accessGroup ?? "", service: service, server: server, protocol: protocolName,
      port: port, path: path, account: account, attributes: attributes)
  }

  /// Whether a credential has those given names that a search does not compare.
  func matchesDetails(of credential: Credential) -> Bool {
    guard case .internetPassword(let password) = credential.identity.kind else { return true }
    return securityDomain.map(password.securityDomain.hasSameBytes) ?? true
      && authenticationType.map(password.authenticationType.hasSameBytes) ?? true
  }

  /// Whether the options may mean an internet password with more names.
  var leavesNamesOpen: Bool {
    server != nil
      && (port == nil || [protocolName, path, securityDomain, authenticationType].contains(nil))
  }
}

/// Whether a command without a service concerns all credentials of the user.
///
/// A host with its own service shows only that one, because its users don't expect credentials of
/// other programs.
struct ServiceScopeOptions: QuickArguments {
  @Flag(
    help: .init(
      "Look at every service and server, not at '\(KeychainCommandContext.current.defaultService)' "
        + "alone",
      visibility: KeychainCommandContext.current.ownService == nil ? .hidden : .default))
  var allServices = false

  mutating func read(_ line: inout QuickLine) throws {
    allServices = try line.flag("all-services")
  }

  /// Limits a search to the host's own service, unless it has a service or server.
  func narrow(_ query: CredentialQuery) -> CredentialQuery {
    allServices ? query : KeychainCommandContext.current.narrow(query)
  }

  /// Refuses a service together with the option for all services.
  func check(isServiceNamed isNamed: Bool) throws {
    if allServices && isNamed { throw ValidationError(UsageText.allOrNamedServices) }
  }
}

/// The conditions of `list` that a search does not support.
struct ListFilterOptions: ParsableArguments {
  @Flag(help: "Only those that have expired, the first to expire first")
  var expired = false

  @Option(
    help: .init(
      "Only those that have expired or do so within a time such as 30d, in that order",
      valueName: "time"),
    transform: ListFilterOptions.time)
  var expiringWithin: Duration?

  var isActive: Bool { expired || expiringWithin != nil }

  func validate() throws {
    if expired && expiringWithin != nil {
      throw ValidationError(UsageText.expiredOrExpiring)
    }
  }

  /// Returns the date until which a listed credential expires; `nil` if expiry doesn't matter.
  private func limit(from now: Date) -> Date? {
    if expired { return now }
    return expiringWithin.map { now.addingTimeInterval($0 / .seconds(1)) }
  }

  func selection(of credentials: [Credential], now: Date = Date()) -> [Credential] {
    guard let limit = limit(from: now) else { return credentials }
    // Sorting is stable: credentials that expire at the same time keep their order.
    return credentials.filter { $0.isExpired(at: limit) }
      .sorted { ($0.expires ?? .distantFuture) < ($1.expires ?? .distantFuture) }
  }

  private static func time(_ text: String) throws -> Duration {
    guard let time = DurationText.parse(text) else {
      throw ValidationError(UsageText.timeFromNow)
    }
    return time
  }
}

extension NamePattern {
  /// Whether a name of a credential matches: the account, the label, and, unless the search has
  /// one, the service or server.
  func matches(_ credential: Credential, foundBy query: CredentialQuery) -> Bool {
    var names = [credential.identity.account, credential.label].compactMap(\.self)
    if query.service == nil && query.server == nil {
      switch credential.identity.kind {
      case .genericPassword(let service, _): names.append(service)
      case .internetPassword(let password): names.append(password.server)
      }
    }
    return names.contains(where: matches)
  }
}
