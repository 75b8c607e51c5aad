internal import PrephirencesSystem

extension InternetPasswordPattern {
  /// Returns whether a credential has the given names.
  ///
  /// - Parameter credential: The credential.
  /// - Returns: `false` for a generic password, too.
  public func matches(_ credential: Credential) -> Bool {
    guard case .internetPassword(let password) = credential.identity.kind else { return false }
    return password.server.hasSameBytesFoldingASCIICase(as: server)
      && password.protocol.hasSameBytesFoldingASCIICase(as: self.protocol)
      && password.effectivePort == InternetPassword.effectivePort(port, of: self.protocol)
      && Self.allows(path?.withoutLeadingSlash, password.path.withoutLeadingSlash)
      && Self.allows(account, password.account)
      && Self.allows(securityDomain, password.securityDomain)
      && Self.allows(authenticationType, password.authenticationType)
  }

  /// The identity with the given names and no others.
  var exactKind: CredentialIdentity.Kind {
    .internetPassword(
      InternetPassword(
        server: server, protocol: self.protocol, port: port, path: path ?? "",
        account: account ?? "", securityDomain: securityDomain ?? "",
        authenticationType: authenticationType ?? ""))
  }

  /// Returns whether a credential that matches has no name that the pattern leaves out.
  func hasNothingElse(_ credential: Credential) -> Bool {
    guard case .internetPassword(let password) = credential.identity.kind else { return false }
    let others = [
      (path, password.path), (account, password.account),
      (securityDomain, password.securityDomain), (authenticationType, password.authenticationType),
    ]
    return others.allSatisfy { given, name in given != nil || name.isEmpty }
  }

  private static func allows(_ given: String?, _ name: String) -> Bool {
    given.map(name.hasSameBytes) ?? true
  }
}
