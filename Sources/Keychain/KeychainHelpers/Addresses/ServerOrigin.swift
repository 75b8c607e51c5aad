internal import PrephirencesSystem

/// A protocol, a host and a port: what must be equal before a client gets a credential.
///
/// Protocol and host compare without regard to the case of ASCII letters, and to nothing else: a
/// final dot, another spelling of an address and a domain above are other hosts. The usual port of
/// a protocol is the same as none, and an IPv6 address without brackets the same as in brackets.
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

  /// Creates an origin.
  ///
  /// - Parameters:
  ///   - protocol: The protocol.
  ///   - host: The host name or address.
  ///   - port: The port; `nil` or 0 for the usual one.
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
  ///
  /// - Parameter hasher: Takes the bytes.
  public func hash(into hasher: inout Hasher) {
    self.protocol.hashUTF8(into: &hasher)
    host.hashUTF8(into: &hasher)
    hasher.combine(port)
  }
}
