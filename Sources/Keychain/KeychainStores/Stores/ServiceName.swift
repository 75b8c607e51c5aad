package import KeychainCredentials
internal import PrephirencesSystem

/// The subject of a choice of store: the service of generic passwords, or the server of internet
/// passwords, in any access group.
package struct ServiceName: Hashable, Sendable {
  package enum Kind: UInt8, Sendable {
    case service, server
  }

  package let kind: Kind
  package let name: String

  package init(_ kind: Kind, _ name: String) {
    self.kind = kind
    self.name = name
  }

  package init(_ identity: CredentialIdentity) {
    switch identity.kind {
    case .genericPassword(let service, _): self.init(.service, service)
    case .internetPassword(let password): self.init(.server, password.server)
    }
  }

  /// The service or server of a query; `nil` if it names neither.
  package init?(_ query: CredentialQuery) {
    if let service = query.service {
      self.init(.service, service)
    } else if let server = query.server {
      self.init(.server, server)
    } else {
      return nil
    }
  }

  /// The search for all its credentials.
  package var query: CredentialQuery {
    switch kind {
    case .service: CredentialQuery(service: name)
    case .server: CredentialQuery(server: name)
    }
  }

  var bytes: [UInt8] { [kind.rawValue] + name.utf8 }

  package static func == (left: Self, right: Self) -> Bool {
    left.kind == right.kind && left.name.hasSameBytes(as: right.name)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension ServiceName: CustomStringConvertible {
  package var description: String {
    switch kind {
    case .service: "the service '\(name)'"
    case .server: "the server '\(name)'"
    }
  }
}
