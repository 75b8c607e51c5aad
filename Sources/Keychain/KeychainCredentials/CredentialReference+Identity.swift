extension CredentialReference {
  /// Creates the reference to the secret of a credential, with all its names.
  ///
  /// - Parameter identity: The identity of the credential.
  public init(_ identity: CredentialIdentity) {
    let subject: Subject =
      switch identity.kind {
      case .genericPassword(let service, let account):
        .genericPassword(service: service, account: account)
      case .internetPassword(let password):
        .internetPassword(
          InternetPasswordPattern(
            server: password.server, protocol: password.protocol, port: password.port,
            path: password.path.isEmpty ? nil : password.path, account: password.account,
            securityDomain: password.securityDomain.isEmpty ? nil : password.securityDomain,
            authenticationType: password.authenticationType.isEmpty
              ? nil : password.authenticationType))
      }
    self.init(subject, accessGroup: identity.accessGroup)
  }
}
