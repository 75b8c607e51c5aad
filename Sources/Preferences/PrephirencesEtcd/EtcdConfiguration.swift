internal import PrephirencesSystem

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

  /// How long the client waits, apart from the deadlines of its calls.
  package struct Timing: Hashable, Sendable {
    /// The limit for connecting to an endpoint.
    package var connecting = Duration.seconds(3)
    /// A call fails after this time without a byte; etcd answers within 7 s, if only that it has
    /// no leader.
    package var silence = Duration.seconds(10)
    /// A watch without changes checks after this time that it may still read.
    package var checking = Duration.seconds(30)
    /// The time after which a watch is renewed.
    package var renewing = Duration.seconds(600)
    /// The time after which a token is no longer used; etcd forgets unused tokens after 300 s.
    package var keepingToken = Duration.seconds(240)

    package init() {}
  }

  package var endpoints: [Endpoint]
  /// `false` only on loopback.
  package var usesTLS: Bool
  /// Paths of PEM files; if they are `nil`, the system's authorities and no client certificate are
  /// used.
  package var certificateAuthority: String?
  package var certificate: String?
  package var key: String?
  package var user: String?
  /// Reads the password each time it is needed; the client wipes the bytes after use.
  package var password: (@Sendable () throws -> [UInt8])?
  /// Identifies the password to other configurations; `nil` if they cannot share it.
  package var passwordSource: [String]?
  /// The proxy to use; proxies in the environment are ignored.
  package var proxy: String?
  package var timing = Timing()
  /// The size limit of an answer, in bytes; a snapshot then reads smaller pages.
  package var answerLimit = 16 << 20

  package init(endpoints: [Endpoint], usesTLS: Bool) {
    self.endpoints = endpoints
    self.usesTLS = usesTLS
  }
}

extension EtcdConfiguration {
  /// Two configurations with the same identity share a client.
  struct Identity: Hashable {
    let endpoints: [Endpoint]
    let usesTLS: Bool
    let names: [String?]
    let passwordSource: [String]?
    let timing: Timing
    let answerLimit: Int
  }

  /// `nil` if the source of the password is unknown: then no other configuration is equal.
  var identity: Identity? {
    guard password == nil || passwordSource != nil else { return nil }
    return Identity(
      endpoints: endpoints, usesTLS: usesTLS,
      names: [certificateAuthority, certificate, key, user, proxy], passwordSource: passwordSource,
      timing: timing, answerLimit: answerLimit)
  }
}

/// An address such as `etcd+https://a:2379,b:2379/prefix`.
package struct EtcdAddress: Hashable, Sendable {
  /// Empty in `etcd+https:///prefix`, which variables complete.
  package let endpoints: [EtcdConfiguration.Endpoint]
  package let usesTLS: Bool
  /// The path without its first slash.
  package let prefix: String

  package init(_ text: String) throws {
    guard let (scheme, rest) = Self.divided(text, at: "://"),
      scheme == "etcd+https" || scheme == "etcd+http"
    else {
      throw EtcdError.address("it must begin with etcd+https://, or on loopback with etcd+http://")
    }
    let (authority, path) = Self.divided(rest, at: "/") ?? (rest, "")
    guard !authority.utf8.contains(UInt8(ascii: "@")) else {
      throw EtcdError.address(
        "it must not contain a user or a password; name the user in an option or in the "
          + "configuration, and keep the password in a file or in the keychain")
    }
    guard !rest.utf8.contains(where: { "?#".utf8.contains($0) }) else {
      throw EtcdError.address("it must not contain ? or #; write %3F and %23")
    }
    guard let prefix = path.percentDecoded, !prefix.utf8.contains(0) else {
      throw EtcdError.address("the path must be UTF-8, percent-encoded")
    }
    usesTLS = scheme == "etcd+https"
    endpoints = authority.isEmpty ? [] : try Self.endpoints(authority, usesTLS: usesTLS)
    // A trailing slash has no meaning.
    self.prefix = prefix.utf8.last == UInt8(ascii: "/") ? String(prefix.dropLast()) : prefix
  }

  /// Parses `a:2379,b`, as in an address and in `ETCDCTL_ENDPOINTS`.
  static func endpoints(_ text: String, usesTLS: Bool) throws -> [EtcdConfiguration.Endpoint] {
    var endpoints: [EtcdConfiguration.Endpoint] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let endpoint = try EtcdConfiguration.Endpoint(String(part))
      guard usesTLS || endpoint.isLoopback else {
        throw EtcdError.address("beyond this machine, TLS is needed: use etcd+https://")
      }
      endpoints.append(endpoint)
    }
    return endpoints
  }

  private static func divided(
    _ text: String, at separator: String
  ) -> (before: String, after: String)? {
    text.utf8.firstRange(of: separator.utf8).map {
      (String(text[..<$0.lowerBound]), String(text[$0.upperBound...]))
    }
  }
}

extension EtcdConfiguration.Endpoint {
  /// Parses `host`, `host:port`, `[::1]` or `[::1]:port`.
  init(_ text: String) throws {
    var host = text[...]
    var port: Substring?
    if text.utf8.first == UInt8(ascii: "[") {
      guard let end = text.firstIndex(of: "]") else {
        throw EtcdError.address("the ] after a [ is missing")
      }
      host = text[text.index(after: text.startIndex)..<end]
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || rest.first == ":" else {
        throw EtcdError.address("after ], only a colon and a port may follow")
      }
      port = rest.isEmpty ? nil : rest.dropFirst()
      guard host.utf8.contains(UInt8(ascii: ":")),
        host.utf8.allSatisfy({ $0.isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
        )
      else { throw EtcdError.address("only an address of IPv6 can be in [ ]") }
    } else {
      if let colon = text.firstIndex(of: ":") {
        host = text[..<colon]
        port = text[text.index(after: colon)...]
      }
      guard !host.isEmpty, host.utf8.allSatisfy({ $0.isHostCharacter }) else {
        throw EtcdError.address("a host must be a name, an address, or an address of IPv6 in [ ]")
      }
    }
    self.init(host: String(host), port: try Self.port(port))
  }

  private static func port(_ text: Substring?) throws -> Int {
    guard let text else { return 2379 }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(text),
      (1...65535).contains(port)
    else { throw EtcdError.address("a port must be a number from 1 to 65535") }
    return port
  }

  /// Whether the host is this machine: `localhost`, `::1`, or `127.` and three more numbers.
  package var isLoopback: Bool {
    if host == "localhost" || host == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// The host and port as in a URL.
  var authority: String {
    host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

extension UInt8 {
  fileprivate var isHexDigit: Bool {
    (0x30...0x39).contains(self) || (0x61...0x66).contains(self | 0x20)
  }

  fileprivate var isHostCharacter: Bool {
    (0x30...0x39).contains(self) || (0x61...0x7A).contains(self | 0x20) || "-._".utf8.contains(self)
  }
}

extension EtcdError {
  static func address(_ rule: String) -> EtcdError {
    EtcdError(.invalidAddress, "the address of the cluster cannot be used: \(rule)")
  }
}
