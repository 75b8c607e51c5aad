internal import KeychainCredentials
internal import PrephirencesSystem

/// The server of a request.
struct GitServer {
  /// What must be equal.
  let origin: ServerOrigin

  /// The host in small letters, without the port; an IPv6 address is in brackets.
  var host: String { origin.host }

  /// The host as git sent it.
  let writtenHost: String

  /// The port that git sent; 0 without one.
  let port: UInt16

  /// Reads the server of a request; `nil` if it names none.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if the host has a port
  ///   that is none.
  init?(_ request: GitCredentialRequest) throws(KeychainError) {
    guard let protocolName = request.protocol, let address = request.host else { return nil }
    var host = address[...]
    var port: UInt16 = 0
    // An IPv6 address has colons, too: one with a port is in brackets.
    let tail = address.lastIndex(of: "]").map { address[$0...].dropFirst() } ?? address[...]
    if let colon = tail.lastIndex(of: ":"), tail.firstIndex(of: ":") == colon {
      host = address[..<colon]
      port = try Self.port(address[colon...].dropFirst())
    }
    guard !host.isEmpty else { return nil }
    writtenHost = String(host)
    self.port = port
    origin = ServerOrigin(protocol: protocolName, host: writtenHost, port: port)
  }

  private static func port(_ text: Substring) throws(KeychainError) -> UInt16 {
    let isNumber = text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
    guard isNumber, let port = UInt16(text), port > 0 else { throw .gitHostInvalid }
    return port
  }

  /// The spellings under which a credential may be stored.
  var searchedHosts: [String] {
    let hosts = origin.storedHosts
    return hosts.contains { $0.hasSameBytes(as: writtenHost) } ? hosts : hosts + [writtenHost]
  }

  /// Returns whether an internet password is of this server.
  func isServer(of password: InternetPassword) -> Bool {
    origin
      == ServerOrigin(
        protocol: password.protocol, host: password.server, port: password.port)
  }
}
