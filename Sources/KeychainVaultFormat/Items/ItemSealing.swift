package import Foundation
package import KeychainCredentials
package import KeychainSecrets
internal import PrephirencesText

/// Seals items into rows, and opens them.
package struct ItemSealing {
  package let keys: TierKeys
  package let device: VaultDevice?

  /// Makes sealing many items cheaper; `nil` if there are few.
  package var batch: SealingBatch?

  package init(keys: TierKeys, device: VaultDevice?, batch: SealingBatch? = nil) {
    self.keys = keys
    self.device = device
    self.batch = batch
  }

  /// Returns the id of an identity.
  package func id(of identity: CredentialIdentity) throws(KeychainError) -> Data {
    try Derivation.tag(keys.open.bytes, "pk2/index.id", MetadataCoding.identityFields(identity))
  }

  /// Returns the tokens of an item, of everything by which it is found, as its row has them.
  ///
  /// A part of the identity that was not given has none.
  package func tokens(of credential: Credential) throws(KeychainError) -> Data {
    var tokens: Set<Data> = []
    for pair in credential.searchablePairs where Self.hasToken(pair) {
      tokens.insert(try token(of: pair))
    }
    for pair in credential.attributes {
      tokens.insert(try token(of: SearchablePair(name: pair.name, value: pair.value)))
    }
    return tokens.sorted { $0.lexicographicallyPrecedes($1) }.reduce(into: Data()) { $0 += $1 }
  }

  /// Whether items with a pair have a token for it.
  ///
  /// A part of the identity that is not given has none, so that the number of tokens does not show
  /// the kind of an item.
  package static func hasToken(_ pair: SearchablePair) -> Bool {
    guard SearchablePair.identityNames.contains(pair.name) else { return true }
    return !pair.value.isEmpty && !(pair.name == SearchablePair.port && pair.value == "0")
  }

  package func token(of pair: SearchablePair) throws(KeychainError) -> Data {
    let fields = FieldWriter.fields {
      $0.text(pair.name)
      $0.text(pair.value)
    }
    return Data(try Derivation.shortTag(keys.open.bytes, "pk2/index.attr", fields))
  }

  /// Returns the token of an access group, which all its items have.
  package func groupToken(_ name: String) throws(KeychainError) -> Data {
    try token(of: SearchablePair(name: SearchablePair.accessGroup, value: name))
  }

  /// Seals an item.
  package func seal(
    _ credential: Credential, secret: borrowing SecretBytes, id: Data
  ) throws(KeychainError) -> ItemRow {
    try seal(
      credential, metadata: try MetadataCoding.encode(credential), secret: secret, id: id)
  }

  /// Seals an item whose metadata is already encoded.
  package func seal(
    _ credential: Credential, metadata: borrowing SecretBytes, secret: borrowing SecretBytes,
    id: Data
  ) throws(KeychainError) -> ItemRow {
    let group = try groupKey(
      credential.accessibility, group: credential.identity.accessGroup,
      name: "\(credential.identity)")
    let metadataKey = try group.itemKey(.metadata, id: id, version: credential.version)
    let secretKey = try group.itemKey(.secret, id: id, version: credential.version)
    let box = try sealPadded(secret, with: secretKey)
    return ItemRow(
      id: id, accessibility: credential.accessibility,
      device: credential.accessibility.isThisDeviceOnly ? device?.id : nil,
      version: credential.version, tokens: try tokens(of: credential),
      secretHash: try Derivation.hash(box, count: 32),
      metadata: try sealPadded(metadata, with: metadataKey), secret: box)
  }

  /// Opens both parts of an item whose group is known.
  package func opened(
    _ row: ItemRow, group: String, name: @autoclosure () -> String
  ) throws(KeychainError) -> OpenedItem {
    let key = try groupKey(of: row, group: group, name: name())
    let metadata = try metadata(in: row, key, name: name())
    let credential = try credential(metadata, of: row, group: group, name: name())
    return OpenedItem(
      credential: credential, metadata: metadata,
      secret: try secret(in: row, key, name: "\(credential.identity)"))
  }

  /// Opens the metadata of an item whose group is known.
  package func credential(
    in row: ItemRow, group: String, name: @autoclosure () -> String
  ) throws(KeychainError) -> Credential {
    let key = try groupKey(of: row, group: group, name: name())
    let metadata = try metadata(in: row, key, name: name())
    return try credential(metadata, of: row, group: group, name: name())
  }

  private func metadata(
    in row: ItemRow, _ groupKey: GroupKey, name: @autoclosure () -> String
  ) throws(KeychainError) -> SecretBytes {
    let key = try groupKey.itemKey(.metadata, id: row.id, version: row.version)
    guard let metadata = try Self.openMetadata(row, with: key) else { throw .damagedItem(name()) }
    return metadata
  }

  private static func openMetadata(
    _ row: ItemRow, with key: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes? {
    try Sealing.openPadded(row.metadata, with: key, limit: MetadataCoding.maximumCount)
  }

  private func credential(
    _ metadata: borrowing SecretBytes, of row: ItemRow, group: String,
    name: @autoclosure () -> String
  ) throws(KeychainError) -> Credential {
    guard let credential = MetadataCoding.decode(metadata, of: row),
      try id(of: credential.identity) == row.id,
      credential.identity.accessGroup.hasSameBytes(as: group)
    else { throw .damagedItem(name()) }
    return credential
  }

  /// Opens the secret of an item whose group is known.
  package func secret(
    in row: ItemRow, group: String, name: @autoclosure () -> String
  ) throws(KeychainError) -> SecretBytes {
    try secret(in: row, groupKey(of: row, group: group, name: name()), name: name())
  }

  private func secret(
    in row: ItemRow, _ groupKey: GroupKey, name: @autoclosure () -> String
  ) throws(KeychainError) -> SecretBytes {
    let key = try groupKey.itemKey(.secret, id: row.id, version: row.version)
    let limit = Credential.maximumSecretCount
    guard let secret = try Sealing.openPadded(row.secret, with: key, limit: limit) else {
      throw .damagedItem(name())
    }
    return secret
  }

  /// Whether the row is bound to another device.
  package func isOfOtherDevice(_ row: ItemRow) -> Bool {
    row.accessibility.isThisDeviceOnly && row.device != device?.id
  }

  /// Whether this device's secret opens an item that names another device, so that the name was
  /// changed.
  private func opensHere(_ row: ItemRow, group: String) throws(KeychainError) -> Bool {
    guard device != nil, keys.satisfies(row.accessibility.unlockRequirement) else { return false }
    let groupKey = try self.groupKey(row.accessibility, group: group, name: "")
    let key = try groupKey.itemKey(.metadata, id: row.id, version: row.version)
    return try Self.openMetadata(row, with: key) != nil
  }

  private func groupKey(
    of row: ItemRow, group: String, name: @autoclosure () -> String
  ) throws(KeychainError) -> GroupKey {
    guard row.accessibility.isThisDeviceOnly == (row.device != nil) else {
      throw .damagedItem(name())
    }
    guard !isOfOtherDevice(row) else {
      throw try opensHere(row, group: group) ? .damagedItem(name()) : .otherDevice(name())
    }
    return try groupKey(row.accessibility, group: group, name: name())
  }

  private func sealPadded(
    _ message: borrowing SecretBytes, with key: borrowing SecretBytes
  ) throws(KeychainError) -> Data {
    if let batch { return try batch.sealPadded(message, with: key) }
    return try Sealing.sealPadded(message, with: key)
  }

  private func groupKey(
    _ accessibility: Accessibility, group: String, name: @autoclosure () -> String
  ) throws(KeychainError) -> GroupKey {
    let device = accessibility.isThisDeviceOnly ? device : nil
    let known = GroupKeyName(accessibility, group, device: device)
    return try keys.derived.groupKey(known) { () throws(KeychainError) in
      guard let tierKey = keys.key(Tier(accessibility.unlockRequirement)) else {
        throw .locked(name())
      }
      let classKey = try ClassKey.derive(from: tierKey.bytes, accessibility, device: device)
      return try GroupKey(classKey: classKey, group: group)
    }
  }
}
