internal import KeychainVault

/// An identity as JSON shows it, without its secret.
struct IdentityJSON: Encodable {
  let file: String
  let recipient: String
  let vaults: [String]

  init(_ identity: IdentityDescription) {
    file = identity.path
    recipient = identity.recipient.description
    vaults = identity.pins.map(\.description)
  }
}
