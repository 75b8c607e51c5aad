internal import PrephirencesSystem

/// A protocol, a host and a port: all must match before a client gets a credential.
///
/// Protocol and host are compared without regard to the case of ASCII letters, but otherwise
/// exactly: a final dot, another spelling of an address or a parent domain makes another host. No
/// port means the usual one of the protocol, and an IPv6 address may lack its brackets.
public struct ServerOrigin: Hashable, Sendable {
  /// The protocol, in lower case, such as `https`.
  public let `protocol`: String

  /// The host name or address, in lower case; an IPv6 address is in brackets.
  public let host: String

  /// The spellings under which a password of the host may be stored.
  var storedHosts: [String] {
    host.hasPrefix("[") ? [host, String(host.dropFirst().dropLast())] : [host]
  }

  /// The port; `nil` for the usual one of the protocol.
  public let port: UInt16?

  /// Creates an origin; a port of `nil` or 0 is the usual one.
  public init(protocol: String, host: String, port: UInt16? = nil) {
    self.protocol = `protocol`.foldingASCIICase
    let isBareAddress = host.utf8.contains(UInt8(ascii: ":")) && !host.hasPrefix("[")
    self.host = (isBareAddress ? "[\(host)]" : host).foldingASCIICase
    let usual = Self.usualPorts[self.protocol]
    self.port = port == 0 || port == usual ? nil : port
  }

  private static let usualPorts: [String: UInt16] = ["http": 80, "https": 443]

  /// Compares protocol, host and port, as bytes.
  public static func == (left: Self, right: Self) -> Bool {
    left.protocol.hasSameBytes(as: right.protocol) && left.host.hasSameBytes(as: right.host)
      && left.port == right.port
  }

  /// Hashes protocol, host and port, as bytes.
  public func hash(into hasher: inout Hasher) {
    self.protocol.hashUTF8(into: &hasher)
    host.hashUTF8(into: &hasher)
    hasher.combine(port)
  }
}
