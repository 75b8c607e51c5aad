internal import Foundation
internal import KeychainSecretService
internal import KeychainStores

/// An item of another program as JSON shows it; what is not known is left out.
struct UnlistedItemJSON: Encodable {
  private let facts: Facts
  private var revealed: RevealedSecretJSON?

  private struct Facts: Encodable {
    let kind = "otherProgram"
    let store = StoreKind.secretService.rawValue
    let label: String
    let attributes: AttributesJSON
    let created: Date?
    let modified: Date?
  }

  init(_ item: UnlistedItem) {
    facts = Facts(
      label: item.label, attributes: AttributesJSON(attributes: item.attributes),
      created: item.created, modified: item.modified)
  }

  /// Puts all into one object.
  func encode(to encoder: any Encoder) throws {
    try facts.encode(to: encoder)
    try revealed?.encode(to: encoder)
  }

  /// Puts the secret in, as text if it is text.
  mutating func reveal(_ bytes: RawSpan) { revealed = RevealedSecretJSON(bytes) }
}

/// What a list shows: credentials, and items of other programs.
enum ListedJSON: Encodable {
  case credential(ListedCredentialJSON)
  case unlisted(UnlistedItemJSON)

  /// Encodes what it is.
  func encode(to encoder: any Encoder) throws {
    switch self {
    case .credential(let credential): try credential.encode(to: encoder)
    case .unlisted(let item): try item.encode(to: encoder)
    }
  }
}
