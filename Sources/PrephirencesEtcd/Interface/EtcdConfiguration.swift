/// How a cluster is reached.
package struct EtcdConfiguration: Sendable {
  package struct Endpoint: Hashable, Sendable {
    package var host: String
    package var port: Int
    package init(host: String, port: Int) {
      self.host = host
      self.port = port
    }
  }

  package var endpoints: [Endpoint]
  /// `false` on loopback alone.
  package var usesTLS: Bool
  /// Paths of PEM files; `nil` for the authorities of the system, and for no client certificate.
  package var certificateAuthority: String?
  package var certificate: String?
  package var key: String?
  package var user: String?
  /// Reads the password each time it is needed; the bytes are wiped by the client after use.
  package var password: (@Sendable () throws -> [UInt8])?
  /// The proxy to use, if one is named; those of the environment are ignored.
  package var proxy: String?

  package init(endpoints: [Endpoint], usesTLS: Bool) {
    self.endpoints = endpoints
    self.usesTLS = usesTLS
  }
}

/// An address such as `etcd+https://a:2379,b:2379/prefix`.
package struct EtcdAddress: Hashable, Sendable {
  /// Empty in `etcd+https:///prefix`: then `ETCDCTL_ENDPOINTS` completes it.
  package let endpoints: [EtcdConfiguration.Endpoint]
  package let usesTLS: Bool
  /// The path without its first slash.
  package let prefix: String

  /// - Throws: ``EtcdError`` with ``EtcdError/Code/invalidAddress``: another scheme, a user or
  ///   password, a query, `etcd+http` beyond loopback …
  package init(_ text: String) throws(EtcdError) {
    throw EtcdError(.invalidAddress, "the address cannot be used yet")
  }
}
