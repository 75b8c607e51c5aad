package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// Seals items, and opens them.
package struct ItemSealing {
  package let keys: TierKeys
  package let device: VaultDevice?

  package init(keys: TierKeys, device: VaultDevice?) {
    self.keys = keys
    self.device = device
  }

  /// Returns the id of an identity.
  package func id(of identity: CredentialIdentity) throws(KeychainError) -> ItemID {
    let tag = try Derivation.tag(
      keys.open.bytes, "pk3/id", MetadataCoding.identityFields(identity))
    return ItemID(tag.bytes, at: 0)
  }

  /// Returns what entries have for a service or server.
  ///
  /// If no entry of a tier that is locked has it, nothing of the service is locked.
  package func service(_ text: String) throws(KeychainError) -> UInt64 {
    try Derivation.tag(keys.open.bytes, "pk3/service", FieldWriter.fields { $0.text(text) })
      .bytes.littleEndian(at: 0, as: UInt64.self)
  }

  /// Seals an item, whose version and dates the credential has.
  package func seal(
    _ credential: Credential, secret: borrowing SecretBytes
  ) throws(KeychainError) -> SealedItem {
    let (id, accessibility) = (try id(of: credential.identity), credential.accessibility)
    let key = try itemKey(
      accessibility, id, version: credential.version, name: "\(credential.identity)")
    let box = try Sealing.sealPadded(secret, with: key)
    let entry = ItemEntry(
      id: id, accessibility: accessibility,
      device: accessibility.isThisDeviceOnly ? device?.id : nil, version: credential.version,
      boxCount: box.count, boxHash: try Derivation.hash(of: box),
      service: try service(credential.identity.serviceOrServer))
    return SealedItem(
      entry: entry, metadata: SharedSecret(try MetadataCoding.encode(credential)), box: box)
  }

  /// Returns the credential of an item, which may be bound to another device.
  ///
  /// `index` is the number of the entry among the puts of the part with the metadata.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/damaged`` if the metadata breaks the
  ///   format, or is not that of the entry's id and service.
  package func credential(
    _ metadata: PartMetadata, at index: Int, of entry: ItemEntry, name: @autoclosure () -> String
  ) throws(KeychainError) -> Credential {
    guard let credential = metadata.credential(at: index, of: entry), try isNamed(entry, credential)
    else { throw .damagedItem(name()) }
    return credential
  }

  /// Whether an entry has the id and the service of a credential; it is returned only then.
  package func isNamed(_ entry: ItemEntry, _ credential: Credential) throws(KeychainError) -> Bool {
    guard try id(of: credential.identity) == entry.id else { return false }
    return try service(credential.identity.serviceOrServer) == entry.service
  }

  /// Opens the secret of an item.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/otherDevice``,
  ///   ``KeychainError/Code/locked``, or ``KeychainError/Code/damaged`` if the box is not the one
  ///   that the entry names, or does not open.
  package func secret(
    in box: Data, of entry: ItemEntry, name: @autoclosure () -> String
  ) throws(KeychainError) -> SecretBytes {
    guard !isOfOtherDevice(entry) else { throw .otherDevice(name()) }
    let key = try itemKey(entry.accessibility, entry.id, version: entry.version, name: name())
    guard box.count == entry.boxCount, try Derivation.hash(of: box) == entry.boxHash,
      let secret = try Sealing.openPadded(box, with: key, limit: Credential.maximumSecretCount)
    else { throw .damagedItem(name()) }
    return secret
  }

  /// Whether the item is bound to another device.
  package func isOfOtherDevice(_ entry: ItemEntry) -> Bool {
    entry.accessibility.isThisDeviceOnly && entry.device != device?.id
  }

  private func itemKey(
    _ accessibility: Accessibility, _ id: ItemID, version: UInt64, name: @autoclosure () -> String
  ) throws(KeychainError) -> SecretBytes {
    guard let classKey = try keys.classKey(accessibility, device: device) else {
      throw .locked(name())
    }
    return try ItemKey.derive(from: classKey.bytes, id, version: version)
  }
}

extension CredentialIdentity {
  fileprivate var serviceOrServer: String {
    switch kind {
    case .genericPassword(let service, _): service
    case .internetPassword(let password): password.server
    }
  }
}
