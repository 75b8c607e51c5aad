internal import PrephirencesSystem

extension CredentialReference: CustomStringConvertible {
  /// The canonical text, in ASCII.
  ///
  /// It is parsed into an equal reference, except where a name of `self` is one that no text can
  /// have: an empty account of a generic password, an empty server or attribute name, or a control
  /// character.
  public var description: String {
    let parameters = self.parameters
    return address + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
  }

  private var address: String {
    switch subject {
    case .genericPassword(let service, let account):
      "keychain://\((service ?? "").percentEncoded(keeping: ":"))/"
        + account.percentEncoded(keeping: "@:")
    case .internetPassword(let pattern): pattern.address
    }
  }

  private var parameters: [String] {
    var parameters: [String] = []
    if !accessGroup.isEmpty { parameters.append("group=" + accessGroup.percentEncoded()) }
    if case .internetPassword(let pattern) = subject {
      parameters += pattern.securityDomain.map { ["security-domain=" + $0.percentEncoded()] } ?? []
      parameters +=
        pattern.authenticationType.map { ["authentication-type=" + $0.percentEncoded()] } ?? []
    }
    if field != .secret { parameters.append("field=" + field.text.percentEncoded(keeping: ":")) }
    if encoding == .base64 { parameters.append("encoding=base64") }
    if isOptional { parameters.append("optional") }
    return parameters
  }
}

extension InternetPasswordPattern {
  /// The reference's text without parameters.
  fileprivate var address: String {
    let host = server.isAddressInBrackets ? server : server.percentEncoded()
    return "keychain+\(self.protocol.foldingASCIICase.percentEncoded(keeping: "+"))://"
      + (account.map { $0.percentEncoded() + "@" } ?? "") + host
      + (port == 0 ? "" : ":\(port)") + (path.map { "/" + $0.percentEncoded(keeping: "/@:") } ?? "")
  }
}

extension String {
  /// Whether the text is brackets around what may be an IPv6 address.
  var isAddressInBrackets: Bool {
    let bytes = utf8
    guard bytes.count > 2, bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") else {
      return false
    }
    return bytes.dropFirst().dropLast().allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }
}
