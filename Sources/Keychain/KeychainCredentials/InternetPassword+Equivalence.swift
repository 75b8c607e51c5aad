internal import PrephirencesSystem

extension InternetPassword {
  /// The port, with the usual one of `http` or `https` if none is given; 0 if there is none.
  var effectivePort: UInt16 { Self.effectivePort(port, of: self.protocol) }

  /// Returns a port, or the usual one of a protocol if the port is 0.
  static func effectivePort(_ port: UInt16, of protocolName: String) -> UInt16 {
    guard port == 0 else { return port }
    return switch protocolName.foldingASCIICase {
    case "http": 80
    case "https": 443
    default: 0
    }
  }

  /// The same names as other programs may write them: case, usual port and first slash.
  fileprivate var normalized: InternetPassword {
    InternetPassword(
      server: server.foldingASCIICase, protocol: self.protocol.foldingASCIICase,
      port: effectivePort, path: path.withoutLeadingSlash, account: account,
      securityDomain: securityDomain, authenticationType: authenticationType)
  }
}

extension CredentialIdentity {
  /// The same identity as other programs may write it.
  private var normalized: CredentialIdentity {
    guard case .internetPassword(let password) = kind else { return self }
    return CredentialIdentity(.internetPassword(password.normalized), accessGroup: accessGroup)
  }

  /// Returns the credentials without those of other programs that one of ours has replaced.
  ///
  /// A store keeps the other program's item when a credential of the same name is stored next to
  /// it, and ours takes precedence from then on.
  package static func withoutReplaced(_ credentials: [Credential]) -> [Credential] {
    guard credentials.count > 1 else { return credentials }
    let own = Set(credentials.filter { !$0.isOfOtherProgram }.map(\.identity.normalized))
    return credentials.filter { !$0.isOfOtherProgram || !own.contains($0.identity.normalized) }
  }
}

extension String {
  var withoutLeadingSlash: String {
    utf8.first == UInt8(ascii: "/") ? String(decoding: utf8.dropFirst(), as: UTF8.self) : self
  }
}
