/// What is given as the name of a server.
enum HostName {
  /// Whether a name has a scheme or a port as well.
  ///
  /// Clients send these apart from the host, so with a protocol no client would find the name. An
  /// IPv6 address has colons, too.
  static func hasMore(_ server: String) -> Bool {
    if server.contains("://") { return true }
    guard let colon = server.utf8.lastIndex(of: UInt8(ascii: ":")) else { return false }
    let (host, port) = (server.utf8[..<colon], server.utf8[colon...].dropFirst())
    guard !port.isEmpty, port.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
      return false
    }
    return !host.contains(UInt8(ascii: ":")) || host.last == UInt8(ascii: "]")
  }
}
