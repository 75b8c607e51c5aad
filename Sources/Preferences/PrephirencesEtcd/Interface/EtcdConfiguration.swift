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

  /// How long the client waits, beside the deadlines of its calls.
  package struct Timing: Hashable, Sendable {
    /// The time for a connection to an endpoint.
    package var connecting = Duration.seconds(3)
    /// The time without any byte after which a call is given up; etcd answers within 7 s, if only
    /// that it has no leader.
    package var silence = Duration.seconds(10)
    /// The time without a change after which a watch checks that it still may read.
    package var checking = Duration.seconds(30)
    /// The time after which a watch is replaced by a new one.
    package var renewing = Duration.seconds(600)
    /// The time after which a token isn't used any more; etcd forgets unused ones after 300 s.
    package var keepingToken = Duration.seconds(240)

    package init() {}
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
  /// What names the same password in other configurations; `nil` if nothing does.
  package var passwordSource: [String]?
  /// The proxy to use, if one is named; those of the environment are ignored.
  package var proxy: String?
  package var timing = Timing()
  /// The greatest answer that is read, in bytes; a snapshot reads smaller pages then.
  package var answerLimit = 16 << 20

  package init(endpoints: [Endpoint], usesTLS: Bool) {
    self.endpoints = endpoints
    self.usesTLS = usesTLS
  }
}

extension EtcdConfiguration {
  /// What equal configurations have in common.
  struct Identity: Hashable {
    let endpoints: [Endpoint]
    let usesTLS: Bool
    let names: [String?]
    let passwordSource: [String]?
    let timing: Timing
    let answerLimit: Int
  }

  /// `nil` if it is unknown where the password comes from: then no other configuration is equal.
  var identity: Identity? {
    guard password == nil || passwordSource != nil else { return nil }
    return Identity(
      endpoints: endpoints, usesTLS: usesTLS,
      names: [certificateAuthority, certificate, key, user, proxy], passwordSource: passwordSource,
      timing: timing, answerLimit: answerLimit)
  }
}
