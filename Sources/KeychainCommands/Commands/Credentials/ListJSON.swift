internal import Foundation
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores

/// A credential in a list, with the store that has it.
struct ListedCredential {
  let credential: Credential
  let place: StorePlace?

  init(_ credential: Credential, in place: StorePlace?) {
    self.credential = credential
    self.place = place
  }

  /// The store in one word, as `--store` takes it; a collection of the desktop keyring follows a colon.
  var store: String {
    guard let place else { return "" }
    let collection = StoresJSON.collection(place)
    let isUsual = collection == nil || place == .secretService(.default)
    return place.name + (isUsual ? "" : ":\(collection ?? "")")
  }
}

/// A credential in a list as JSON shows it.
struct ListedCredentialJSON: Encodable {
  private let credential: CredentialJSON
  private let place: PlaceJSON

  private struct PlaceJSON: Encodable {
    let store: String?
    let collection: String?
  }

  init(_ listed: ListedCredential) {
    credential = CredentialJSON(listed.credential)
    place = PlaceJSON(
      store: listed.place?.name, collection: listed.place.flatMap(StoresJSON.collection))
  }

  /// Puts all into one object.
  func encode(to encoder: any Encoder) throws {
    try credential.encode(to: encoder)
    try place.encode(to: encoder)
  }
}

/// An item of another program as JSON shows it; what is not known is left out.
struct UnlistedItemJSON: Encodable {
  private let facts: Facts
  private var revealed: RevealedSecretJSON?

  private struct Facts: Encodable {
    let kind = "otherProgram"
    let store = StoreChoice.secretService.rawValue
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
