package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The row with the name of an access group for one class.
///
/// Group keys are derived from names. Without these rows, nobody could open the items of a group
/// whose name is not known beforehand, as listing and new root keys require.
package struct AccessGroupRow: Hashable, Sendable {
  package let token: Data
  package let accessibility: Accessibility
  package let box: Data

  package init(token: Data, accessibility: Accessibility, box: Data) {
    self.token = token
    self.accessibility = accessibility
    self.box = box
  }

  /// Returns the key of the box: whoever can open the items of a class can list its groups.
  package static func nameKey(
    tierKey: borrowing SecretBytes, _ token: Data, _ accessibility: Accessibility
  ) throws(KeychainError) -> SecretBytes {
    let classKey = try ClassKey.unbound(from: tierKey, accessibility)
    return try Derivation.key(
      classKey, "pk2/group.name", FieldWriter.fields { $0.byteString(token) })
  }
}

extension AccessGroupRow {
  /// The key by which the tree of groups lists the row.
  package var treeKey: Data { token + Data([accessibility.rawValue]) }

  /// The value that the tree of groups has for the row.
  package func treeValue() throws(KeychainError) -> Data { try Derivation.hash(box, count: 32) }
}

extension ItemSealing {
  package func sealGroup(
    _ name: String, _ accessibility: Accessibility
  ) throws(KeychainError) -> AccessGroupRow {
    let token = try groupToken(name)
    let key = try groupNameKey(token, accessibility, name: "access group '\(name)'")
    return try translating { () throws(SecretsError) in
      let padded = try Padding.pad(SecretBytes(copying: name))
      return AccessGroupRow(
        token: token, accessibility: accessibility,
        box: Data(try SecretBox.seal(padded, with: key)))
    }
  }

  package func groupName(_ row: AccessGroupRow) throws(KeychainError) -> String {
    let key = try groupNameKey(row.token, row.accessibility, name: "an access group")
    guard
      let bytes = try Sealing.openPadded(
        row.box, with: key, limit: Credential.maximumMetadataCount),
      let name = bytes.withBytes({ $0.text }), try groupToken(name) == row.token
    else {
      throw KeychainError(
        .damaged, "the name of an access group is damaged", recovery: .restoreBackup)
    }
    return name
  }

  private func groupNameKey(
    _ token: Data, _ accessibility: Accessibility, name: String
  ) throws(KeychainError) -> SecretBytes {
    guard let tierKey = keys.key(Tier(accessibility.unlockRequirement)) else { throw .locked(name) }
    return try AccessGroupRow.nameKey(tierKey: tierKey.bytes, token, accessibility)
  }
}
