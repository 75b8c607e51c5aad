internal import PrephirencesSystem

/// A host, perhaps with a port, as a netrc file or a command line names it.
struct NetrcAddress {
  /// The host in lower case, without brackets.
  let host: String

  /// The host in the case in which it was written, without brackets.
  let writtenHost: String

  /// The port; `nil` if none is given.
  let port: UInt16?

  /// Reads `HOST`, `HOST:PORT`, or an IPv6 address, which is in brackets if a port follows.
  ///
  /// It is `nil` if the text is no such address.
  init?(_ text: String) {
    guard text.foldingASCIICase.utf8.allSatisfy(Self.allowed.contains) else { return nil }
    var host = text[...]
    var port: Substring?
    if text.utf8.first == UInt8(ascii: "[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[..<end].dropFirst()
      let rest = text[end...].dropFirst()
      guard rest.isEmpty || rest.first == ":" else { return nil }
      port = rest.isEmpty ? nil : rest.dropFirst()
    } else if let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon {
      (host, port) = (text[..<colon], text[colon...].dropFirst())
    }
    guard !host.isEmpty, !host.contains("["), !host.contains("]") else { return nil }
    writtenHost = String(host)
    self.host = writtenHost.foldingASCIICase
    guard let port else {
      self.port = nil
      return
    }
    guard port.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
      let number = UInt16(port), number > 0
    else { return nil }
    self.port = number
  }

  /// What hosts and addresses consist of, with `%` for the zone of an IPv6 address.
  private static let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789.-_:[]%".utf8)
}
