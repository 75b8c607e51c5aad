public import Foundation
public import KeychainCredentials

/// An item of the desktop keyring that another program stored under no names of a credential.
///
/// It has no service or server, as those of Chrome or NetworkManager, or it was found by an attribute that is
/// a name there and no attribute here. It can be read, and is left to its program otherwise.
public struct UnlistedItem: Hashable, Sendable {
  /// What the program calls it; empty if it has no name.
  public let label: String

  /// Everything that the program gave it to be found by.
  public let attributes: CredentialAttributes

  /// When it was made, if the provider tells.
  public let created: Date?

  /// When it was changed, if the provider tells.
  public let modified: Date?

  /// The collection through which it was found, and its object there.
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
