public import FoundationEssentials
public import KeychainCredentials

/// An item of the desktop keyring that another program stored without names of a credential.
///
/// It has no service or server, such as those of Chrome or NetworkManager, or it was found by an
/// attribute that is a name in its program but not here. It can be read, but not changed.
public struct UnlistedItem: Hashable, Sendable {
  /// The program's name for the item; empty if it has none.
  public let label: String

  /// All attributes that the program gave it.
  public let attributes: CredentialAttributes

  /// When it was created, if the provider reports it.
  public let created: Date?

  /// When it was changed, if the provider reports it.
  public let modified: Date?

  /// The collection in which it was found, and its object there.
  package let collection: SecretServiceCollection
  package let path: String

  init(_ item: ServiceItem, in collection: SecretServiceCollection) {
    label = item.label
    attributes = item.attributes
    created = item.created
    modified = item.modified
    self.collection = collection
    path = item.path
  }
}
