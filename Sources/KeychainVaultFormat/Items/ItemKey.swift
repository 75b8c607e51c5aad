internal import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The key of one version of a secret.
package enum ItemKey {
  package static func derive(
    from classKey: borrowing SecretBytes, _ id: ItemID, version: UInt64
  ) throws(KeychainError) -> SecretBytes {
    try Derivation.key(
      classKey, "pk3/item",
      FieldWriter.fields {
        $0.append(id.data)
        $0.integer(version)
      })
  }
}
