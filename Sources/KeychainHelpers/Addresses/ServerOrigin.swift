/// A protocol, a host and a port: what must be equal before a client gets a credential.
///
/// Protocol and host compare without regard to the case of ASCII letters, and to nothing else: a
/// final dot, another spelling of an address and a domain above are other hosts. The usual port of
/// a protocol is the same as none.
public struct ServerOrigin: Hashable, Sendable {
  /// The protocol, in lower case, such as `https`.
  public let `protocol`: String

  /// The host name or address, in lower case; an IPv6 address is in brackets.
  public let host: String

  /// The port; `nil` for the usual one of the protocol.
  public let port: UInt16?

  /// Creates an origin.
  ///
  /// - Parameters:
  ///   - protocol: The protocol.
  ///   - host: The host name or address.
  ///   - port: The port; `nil` or 0 for the usual one.
  public init(protocol: String, host: String, port: UInt16? = nil) {
    self.protocol = `protocol`.asciiLowercased
    self.host = host.asciiLowercased
    let usual = Self.usualPorts[self.protocol]
    self.port = port == 0 || port == usual ? nil : port
  }

  private static let usualPorts: [String: UInt16] = ["http": 80, "https": 443]

  /// Compares protocol, host and port, as bytes.
  public static func == (left: Self, right: Self) -> Bool {
    left.protocol.utf8.elementsEqual(right.protocol.utf8)
      && left.host.utf8.elementsEqual(right.host.utf8) && left.port == right.port
  }

  /// Hashes protocol, host and port, as bytes.
  ///
  /// - Parameter hasher: Takes the bytes.
  public func hash(into hasher: inout Hasher) {
    for text in [self.protocol, host] {
      hasher.combine(text.utf8.count)
      for byte in text.utf8 { hasher.combine(byte) }
    }
    hasher.combine(port)
  }
}

extension String {
  /// The text with ASCII capitals as small letters; every other byte stays.
  package var asciiLowercased: String {
    String(
      decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
      as: UTF8.self)
  }
}
