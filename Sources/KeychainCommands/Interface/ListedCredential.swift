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
    return place.kind.rawValue + (isUsual ? "" : ":\(collection ?? "")")
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
      store: listed.place?.kind.rawValue, collection: listed.place.flatMap(StoresJSON.collection))
  }

  /// Puts all into one object.
  func encode(to encoder: any Encoder) throws {
    try credential.encode(to: encoder)
    try place.encode(to: encoder)
  }
}
