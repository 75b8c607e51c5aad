internal import PrephirencesSystem

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
    // An unknown name isn't repeated: it may be a part of a secret.
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
