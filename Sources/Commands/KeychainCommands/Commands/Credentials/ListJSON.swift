internal import Foundation
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores

/// A credential in a list, with its store.
struct ListedCredential {
  let credential: Credential
  let place: StorePlace?

  init(_ credential: Credential, in place: StorePlace?) {
    self.credential = credential
    self.place = place
  }

  /// The store as the value of `--store`; a collection of the desktop keyring follows after a
  /// colon.
  var store: String {
    guard let place else { return "" }
    let collection = StoresJSON.collection(place)
    let isUsual = collection == nil || place == .secretService(.default)
    return place.name + (isUsual ? "" : ":\(collection ?? "")")
  }
}

/// A credential of a list in JSON.
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

/// An item of another program in JSON; unknown values are omitted.
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

  /// Adds the secret, as text if it is text.
  mutating func reveal(_ bytes: RawSpan) { revealed = RevealedSecretJSON(bytes) }
}

/// An entry of a list: a credential, or an item of another program.
enum ListedJSON: Encodable {
  case credential(ListedCredentialJSON)
  case unlisted(UnlistedItemJSON)

  /// Encodes the entry.
  func encode(to encoder: any Encoder) throws {
    switch self {
    case .credential(let credential): try credential.encode(to: encoder)
    case .unlisted(let item): try item.encode(to: encoder)
    }
  }
}
