internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine

/// The options for a credential's new names, except its account; omitted names stay.
struct NewNameOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: .init("The new service; an internet password becomes a generic one", valueName: "name"),
    completion: .services)
  var toService: String?

  @Option(
    parsing: .unconditional,
    help: .init("The new access group; empty for the unnamed one", valueName: "name"),
    completion: .accessGroups)
  var toAccessGroup: String?

  @Option(
    parsing: .unconditional,
    help: .init("The new server; a generic password becomes an internet one", valueName: "host"),
    completion: .servers)
  var toServer: String?

  @Option(parsing: .unconditional, help: .init("Its new protocol", valueName: "name"))
  var toProtocol: String?

  @Option(help: .init("Its new port; 0 for none", valueName: "number"))
  var toPort: UInt16?

  @Option(parsing: .unconditional, help: .init("Its new path on the server", valueName: "path"))
  var toPath: String?

  @Option(parsing: .unconditional, help: .init("Its new security domain", valueName: "name"))
  var toSecurityDomain: String?

  @Option(parsing: .unconditional, help: .init("Its new authentication type", valueName: "name"))
  var toAuthenticationType: String?

  func validate() throws {
    if toService != nil && (toServer != nil || hasServerDetails) {
      throw ValidationError(UsageText.toServiceOrServer)
    }
  }

  private var hasServerDetails: Bool {
    toPort != nil
      || [toProtocol, toPath, toSecurityDomain, toAuthenticationType].contains { $0 != nil }
  }

  func identity(insteadOf old: CredentialIdentity, account: String) throws -> CredentialIdentity {
    CredentialIdentity(
      try kind(insteadOf: old.kind, account: account),
      accessGroup: toAccessGroup ?? old.accessGroup)
  }

  private func kind(
    insteadOf old: CredentialIdentity.Kind, account: String
  ) throws -> CredentialIdentity.Kind {
    if let toService { return .genericPassword(service: toService, account: account) }
    switch (old, toServer) {
    case (.genericPassword(let service, _), nil):
      guard !hasServerDetails else { throw KeychainError.noServerToChange }
      return .genericPassword(service: service, account: account)
    case (.genericPassword, let server?):
      return .internetPassword(changed(InternetPassword(server: server, account: account)))
    case (.internetPassword(var password), let server):
      password.account = account
      if let server { password.server = server }
      return .internetPassword(changed(password))
    }
  }

  private func changed(_ password: InternetPassword) -> InternetPassword {
    var password = password
    if let toProtocol { password.protocol = toProtocol }
    if let toPort { password.port = toPort }
    if let toPath { password.path = toPath }
    if let toSecurityDomain { password.securityDomain = toSecurityDomain }
    if let toAuthenticationType { password.authenticationType = toAuthenticationType }
    return password
  }
}

/// Where a secret is written, and whether a newline follows it.
struct SecretDestinationOptions: QuickArguments {
  /// When a newline is added to the secret.
  enum Newline: String, ExpressibleByArgument, CaseIterable {
    case always, never, auto
  }

  @Option(help: "Whether a newline follows the secret (default: auto, on a terminal)")
  var newline: Newline?

  @Option(
    help: .init(
      "Write the secret to a new file that only you can read; - for standard output",
      valueName: "path"),
    completion: .file())
  var output: String?

  @Flag(help: "Let --output replace a file that exists")
  var overwrite = false

  mutating func read(_ line: inout QuickLine) throws {
    newline = try line.option("newline", as: Newline.init(argument:))
    output = try line.option("output")
    overwrite = try line.flag("overwrite")
  }

  func validate() throws {
    if output?.isEmpty == true { throw ValidationError(UsageText.emptyOutput) }
    if overwrite && output == nil { throw ValidationError(UsageText.overwriteOutput) }
  }
}
