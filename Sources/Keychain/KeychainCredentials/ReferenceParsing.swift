internal import PrephirencesSystem

extension CredentialReference {
  /// Parses a reference.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument``. The message never
  ///   repeats the text, which may be a secret by mistake.
  public init(_ text: String) throws(KeychainError) {
    var text = text
    text.makeContiguousUTF8()
    try ReferenceText.checkCharacters(text)
    let (address, query) = text.utf8[...].splitting(at: "?")
    let (scheme, rest) = address.splitting(at: ":")
    guard let names = rest?.removing("//") else {
      throw .invalidReference(
        "'://' is missing", recovery: "write keychain://SERVICE/ACCOUNT or keychain+https://HOST")
    }
    subject = try ReferenceText.subject(scheme: scheme, names: names)
    accessGroup = ""
    field = .secret
    encoding = .none
    isOptional = false
    guard let query else { return }
    var parameters = ReferenceParameters()
    for parameter in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
      try parameters.read(parameter, into: &self)
    }
  }

  /// Returns whether a text is meant as a reference, even if an invalid one: whether it begins with
  /// `keychain:` or `keychain+`, in capitals or small letters.
  public static func isReference(_ text: String) -> Bool {
    let start = String(decoding: text.utf8.prefix(9), as: UTF8.self).foldingASCIICase
    return start.hasSameBytes(as: "keychain:") || start.hasSameBytes(as: "keychain+")
  }
}

/// The parts of a reference's text before its parameters.
enum ReferenceText {
  typealias Part = Substring.UTF8View

  static func checkCharacters(_ text: String) throws(KeychainError) {
    if let index = text.utf8.firstIndex(where: { $0 <= 0x20 || $0 == 0x7F }) {
      let position = text.utf8.distance(from: text.startIndex, to: index) + 1
      throw .invalidReference(
        "byte \(position) is a space or a control character",
        recovery: "write a space as %20, and nothing before or after the reference")
    }
    if text.utf8.contains(UInt8(ascii: "#")) {
      throw .invalidReference("it has a '#', which begins no part", recovery: "write '#' as %23")
    }
  }

  static func subject(
    scheme: Part, names: Part
  ) throws(KeychainError) -> CredentialReference.Subject {
    let name = String(decoding: scheme, as: UTF8.self).foldingASCIICase
    if name.hasSameBytes(as: "keychain") { return try genericPassword(names) }
    guard let protocolName = name.utf8[...].removing("keychain+") else {
      throw .invalidReference("it begins with neither 'keychain://' nor 'keychain+'")
    }
    return .internetPassword(
      try internetPassword(names, protocol: decode(protocolName, "protocol").foldingASCIICase))
  }

  private static func genericPassword(
    _ names: Part
  ) throws(KeychainError) -> CredentialReference.Subject {
    let (service, account) = names.splitting(at: "/")
    guard let account, !account.isEmpty else {
      throw .invalidReference(
        "the account is missing", recovery: "write keychain://SERVICE/ACCOUNT")
    }
    if account.contains(UInt8(ascii: "/")) {
      throw .invalidReference(
        "a '/' follows the account", recovery: "write a '/' of the service or account as %2F")
    }
    if service.contains(UInt8(ascii: "@")) {
      throw .invalidReference(
        "the service has an '@'", recovery: "write keychain://SERVICE/ACCOUNT, and '@' as %40")
    }
    return .genericPassword(
      service: service.isEmpty ? nil : try decode(service, "service"),
      account: try decode(account, "account"))
  }

  private static func internetPassword(
    _ names: Part, protocol: String
  ) throws(KeychainError) -> InternetPasswordPattern {
    let (authority, path) = names.splitting(at: "/")
    let (first, second) = authority.splitting(at: "@")
    let (server, port) = try host(second ?? first)
    var pattern = InternetPasswordPattern(server: server, protocol: `protocol`, port: port)
    pattern.path = try path.map { part throws(KeychainError) in try decode(part, "path") }
    guard second != nil else { return pattern }
    if first.contains(UInt8(ascii: ":")) {
      throw .invalidReference(
        "a ':' follows the account, as before a password",
        recovery: "leave the password out; a ':' of the account is written as %3A")
    }
    pattern.account = try decode(first, "account")
    return pattern
  }

  private static func host(_ part: Part) throws(KeychainError) -> (String, UInt16) {
    if part.contains(UInt8(ascii: "@")) {
      throw .invalidReference("it has several '@'", recovery: "write '@' of the account as %40")
    }
    guard part.first == UInt8(ascii: "[") else {
      let (name, port) = part.splitting(at: ":")
      let server = try decode(name, "host")
      if server.isEmpty { throw .invalidReference("the host is missing") }
      return (server, try number(port))
    }
    let (inside, rest) = part.splitting(at: "]")
    let address = String(decoding: inside, as: UTF8.self) + "]"
    guard let rest, address.isAddressInBrackets else {
      throw .invalidReference("the address in brackets is not one of IPv6")
    }
    let (nothing, port) = rest.splitting(at: ":")
    guard nothing.isEmpty else { throw .invalidReference("text follows the address in brackets") }
    return (address, try number(port))
  }

  private static func number(_ part: Part?) throws(KeychainError) -> UInt16 {
    guard let part else { return 0 }
    let isDecimal = part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isDecimal, part.first != UInt8(ascii: "0"),
      let port = UInt16(String(decoding: part, as: UTF8.self))
    else { throw .invalidReference("the port is not a number from 1 to 65535") }
    return port
  }

  /// Decodes a part of a reference.
  static func decode(_ part: Part, _ name: String) throws(KeychainError) -> String {
    guard let text = String(decoding: part, as: UTF8.self).percentDecoded else {
      throw .invalidReference(
        "the \(name) is not percent-encoded UTF-8", recovery: "write '%' as %25")
    }
    if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw .invalidReference("the \(name) has a control character")
    }
    return text
  }
}

extension Substring.UTF8View {
  /// Returns the text before and after the first occurrence of an ASCII character; the second is
  /// `nil` if the character does not occur.
  func splitting(at character: Unicode.Scalar) -> (Self, Self?) {
    guard let index = firstIndex(of: UInt8(ascii: character)) else { return (self, nil) }
    return (self[..<index], self[self.index(after: index)...])
  }

  /// Returns the text without a beginning; `nil` if it begins with something else.
  func removing(_ start: String) -> Self? {
    starts(with: start.utf8) ? dropFirst(start.utf8.count) : nil
  }
}

extension KeychainError {
  static func invalidReference(_ reason: String, recovery: Recovery? = nil) -> Self {
    Self(.invalidArgument, "the reference is invalid: \(reason)", recovery: recovery)
  }
}

/// Reads the parameters of a reference, in their order.
struct ReferenceParameters {
  private var number = 0
  private var seen: Set<String> = []

  /// Reads the next parameter.
  mutating func read(
    _ text: Substring.UTF8View, into reference: inout CredentialReference
  ) throws(KeychainError) {
    number += 1
    let (start, value) = text.splitting(at: "=")
    let name = String(decoding: start, as: UTF8.self)
    // An unknown name isn't repeated, because it may be part of a secret.
    let place =
      Self.names.contains(name) ? "parameter \(number), '\(name)'," : "parameter \(number)"
    guard seen.insert(name).inserted else { throw .invalidReference("\(place) is repeated") }
    if name.hasSameBytes(as: "optional") {
      guard value == nil else { throw .invalidReference("\(place) has a value") }
      reference.isOptional = true
      return
    }
    guard Self.names.contains(name) else {
      throw .invalidReference(
        "\(place) is unknown",
        recovery: "the parameters are \(Self.names.sorted().joined(separator: ", "))")
    }
    guard let value else { throw .invalidReference("\(place) has no value") }
    try set(
      name, to: try ReferenceText.decode(value, "value of \(place)"), at: place, of: &reference)
  }

  private static let names: Set<String> = [
    "authentication-type", "encoding", "field", "group", "optional", "security-domain",
  ]

  private func set(
    _ name: String, to value: String, at place: String, of reference: inout CredentialReference
  ) throws(KeychainError) {
    switch name {
    case "group":
      guard !value.isEmpty else { throw .invalidReference("\(place) has no value") }
      reference.accessGroup = value
    case "field": reference.field = try field(value, at: place)
    case "encoding":
      guard value.hasSameBytes(as: "base64") else {
        throw .invalidReference("\(place) is not base64")
      }
      reference.encoding = .base64
    case "security-domain": try change(&reference, at: place) { $0.securityDomain = value }
    default: try change(&reference, at: place) { $0.authenticationType = value }
    }
  }

  private func field(
    _ value: String, at place: String
  ) throws(KeychainError) -> CredentialReference.Field {
    let known: [CredentialReference.Field] = [.secret, .username, .url, .label]
    if let field = known.first(where: { $0.text.hasSameBytes(as: value) }) { return field }
    let name = value.utf8[...].removing(CredentialReference.Field.attributePrefix)
    guard let name, !name.isEmpty else {
      throw .invalidReference(
        "\(place) is not a field",
        recovery: "the fields are secret, username, url, label and attribute:NAME")
    }
    return .attribute(String(decoding: name, as: UTF8.self))
  }

  private func change(
    _ reference: inout CredentialReference, at place: String,
    _ change: (inout InternetPasswordPattern) -> Void
  ) throws(KeychainError) {
    guard case .internetPassword(var pattern) = reference.subject else {
      throw .invalidReference("\(place) is only for internet passwords")
    }
    change(&pattern)
    reference.subject = .internetPassword(pattern)
  }
}
