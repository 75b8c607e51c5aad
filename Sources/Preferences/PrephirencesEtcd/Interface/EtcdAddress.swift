internal import PrephirencesSystem

/// An address such as `etcd+https://a:2379,b:2379/prefix`.
package struct EtcdAddress: Hashable, Sendable {
  /// Empty in `etcd+https:///prefix`, which something else completes.
  package let endpoints: [EtcdConfiguration.Endpoint]
  package let usesTLS: Bool
  /// The path without its first slash.
  package let prefix: String

  /// - Throws: ``EtcdError`` with ``EtcdError/Code/invalidAddress``: another scheme, a user or
  ///   password, a query, `etcd+http` beyond loopback …
  package init(_ text: String) throws(EtcdError) {
    guard let (scheme, rest) = Self.divided(text, at: "://"),
      scheme == "etcd+https" || scheme == "etcd+http"
    else { throw .address("it must begin with etcd+https://, or on loopback with etcd+http://") }
    let (authority, path) = Self.divided(rest, at: "/") ?? (rest, "")
    guard !authority.utf8.contains(UInt8(ascii: "@")) else {
      throw .address(
        "it must not contain a user or a password; name the user with --user or in the configuration, "
          + "and keep the password in a file or in the keychain")
    }
    guard !rest.utf8.contains(where: { "?#".utf8.contains($0) }) else {
      throw .address("it must not contain ? or #; write %3F and %23")
    }
    guard let prefix = path.percentDecoded, !prefix.utf8.contains(0) else {
      throw .address("the path must be UTF-8, percent-encoded")
    }
    usesTLS = scheme == "etcd+https"
    endpoints = authority.isEmpty ? [] : try Self.endpoints(authority, usesTLS: usesTLS)
    // One slash at the end says nothing.
    self.prefix = prefix.utf8.last == UInt8(ascii: "/") ? String(prefix.dropLast()) : prefix
  }

  /// Reads `a:2379,b` as an address and `ETCDCTL_ENDPOINTS` have it.
  static func endpoints(
    _ text: String, usesTLS: Bool
  ) throws(EtcdError) -> [EtcdConfiguration.Endpoint] {
    var endpoints: [EtcdConfiguration.Endpoint] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let endpoint = try EtcdConfiguration.Endpoint(String(part))
      guard usesTLS || endpoint.isLoopback else {
        throw .address("beyond this machine, TLS is needed: use etcd+https://")
      }
      endpoints.append(endpoint)
    }
    return endpoints
  }

  private static func divided(
    _ text: String, at separator: String
  ) -> (before: String, after: String)? {
    text.range(of: separator).map {
      (String(text[..<$0.lowerBound]), String(text[$0.upperBound...]))
    }
  }
}

extension String {
  /// The first place of a text; Foundation is not needed for more.
  fileprivate func range(of text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].utf8.starts(with: text.utf8) {
        return start..<utf8.index(start, offsetBy: text.utf8.count)
      }
      start = utf8.index(after: start)
    }
    return nil
  }
}

extension EtcdConfiguration.Endpoint {
  /// Reads `host`, `host:port`, `[::1]` or `[::1]:port`.
  init(_ text: String) throws(EtcdError) {
    var host = text[...]
    var port: Substring?
    if text.utf8.first == UInt8(ascii: "[") {
      guard let end = text.firstIndex(of: "]") else { throw .address("the ] after a [ is missing") }
      host = text[text.index(after: text.startIndex)..<end]
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || rest.first == ":" else {
        throw .address("after ], only a colon and a port may follow")
      }
      port = rest.isEmpty ? nil : rest.dropFirst()
      guard host.utf8.contains(UInt8(ascii: ":")),
        host.utf8.allSatisfy({ $0.isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
        )
      else { throw .address("only an address of IPv6 can be in [ ]") }
    } else {
      if let colon = text.firstIndex(of: ":") {
        host = text[..<colon]
        port = text[text.index(after: colon)...]
      }
      guard !host.isEmpty, host.utf8.allSatisfy({ $0.isHostCharacter }) else {
        throw .address("a host must be a name, an address, or an address of IPv6 in [ ]")
      }
    }
    self.init(host: String(host), port: try Self.port(port))
  }

  private static func port(_ text: Substring?) throws(EtcdError) -> Int {
    guard let text else { return 2379 }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(text),
      (1...65535).contains(port)
    else { throw .address("a port must be a number from 1 to 65535") }
    return port
  }

  /// Whether the host is this machine: `localhost`, `::1`, or `127.` with three numbers more.
  package var isLoopback: Bool {
    if host == "localhost" || host == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// As in a URL.
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
