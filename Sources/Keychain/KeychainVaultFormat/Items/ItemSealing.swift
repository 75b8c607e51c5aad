package import FoundationEssentials
package import KeychainCredentials
package import KeychainSecrets
internal import PrephirencesSystem

/// The part of an item that T0 opens.
package struct ItemEntry: Hashable, Sendable {
  package let id: ItemID
  package let accessibility: Accessibility

  /// The id of the device to which the item is bound, 16 bytes; `nil` if it isn't bound.
  package let device: Data?

  /// A random number, new at each write of the item.
  package let version: UInt64
  package let boxCount: Int
  package let boxHash: Bytes32

  /// Identifies the service or server to readers who know its name; see
  /// ``ItemSealing/service(_:)``.
  package let service: UInt64

  /// The possible sizes of a secret's box, in bytes.
  fileprivate static let boxCounts =
    Sealing.greatestBoxCount(
      limit: 0)...Sealing.greatestBoxCount(limit: Credential.maximumSecretCount)

  /// The number of bytes of the shortest encoded entry.
  static let minimumCount = ItemID.count + 1 + 1 + 8 + 4 + 32 + 8

  package var tier: Tier { Tier(accessibility.unlockRequirement) }

  /// Returns 63 random bits, not 0, for an item to be written; a counter, and with it an item key,
  /// would repeat after an item is removed and added again.
  package static func newVersion() -> UInt64 { .random(in: 1...(.max >> 1)) }

  package var count: Int { Self.minimumCount + (device?.count ?? 0) }
}

extension ItemEntry {
  /// Reads an entry, whose class must belong to the tier; it has a device exactly if its class
  /// needs one.
  init(_ reader: inout FieldReader, _ bytes: RawSpan, tier: Tier) throws(FieldReader.Malformed) {
    id = try ItemID(&reader, bytes)
    accessibility = try reader.value(bytes)
    device = try reader.optionalData(bytes, count: 16)
    version = try reader.integer(bytes)
    boxCount = Int(try reader.integer(bytes, as: UInt32.self))
    boxHash = try Bytes32(&reader, bytes)
    service = try reader.integer(bytes)
    guard self.tier == tier, accessibility.isThisDeviceOnly == (device != nil),
      1...(.max >> 1) ~= version, Self.boxCounts ~= boxCount
    else { throw FieldReader.Malformed() }
  }

  func write(to writer: inout FieldWriter) {
    id.write(to: &writer)
    writer.integer(accessibility.rawValue)
    writer.optional(device) { $0.append($1) }
    writer.integer(version)
    writer.integer(UInt32(truncatingIfNeeded: boxCount))
    boxHash.write(to: &writer)
    writer.integer(service)
  }
}

/// A sealed item, for a commit or a page.
package struct SealedItem: Sendable {
  package let entry: ItemEntry

  /// The encoded metadata; a part seals it together with that of its other items.
  package let metadata: [UInt8]
  package let box: Data

  package init(entry: ItemEntry, metadata: [UInt8], box: Data) {
    self.entry = entry
    self.metadata = metadata
    self.box = box
  }
}

/// The id of an item, a mac of its identity under T0; ids are ordered by their bytes.
package struct ItemID: Hashable, Comparable, Sendable {
  package static let count = Bytes32.count

  // Hashed as a whole: ids are macs only if their writer is honest. A dishonest one can choose ids
  // of which all words but one are equal.
  private let tag: Bytes32

  init(_ reader: inout FieldReader, _ bytes: RawSpan) throws(FieldReader.Malformed) {
    tag = try Bytes32(&reader, bytes)
  }

  init(_ tag: Bytes32) { self.tag = tag }

  package var data: Data { tag.data }

  /// The name in errors of an item whose metadata cannot be read.
  package var name: String { "item " + data.prefix(6).hexadecimal }

  func write(to writer: inout FieldWriter) { tag.write(to: &writer) }

  package static func < (left: Self, right: Self) -> Bool { left.tag < right.tag }
}

extension KeychainError {
  package static func damagedItem(_ name: String) -> Self {
    Self(
      .damaged, "\(name) is damaged or was changed outside the vault",
      recovery: "see all problems with \(.verify), and restore the item from a backup")
  }

  package static func otherDevice(_ name: String) -> Self {
    Self(
      .otherDevice, "\(name) is bound to another device",
      recovery: "read it on the machine that stored it, or copy that machine's device.key; "
        + "if that is gone for good, \(.rekey) deletes what only it could read")
  }

  package static func locked(_ name: String) -> Self {
    Self(.locked, "the vault is locked for \(name)", recovery: .unlockOrGivePassphrase)
  }
}

package struct ItemSealing {
  package let keys: TierKeys
  package let device: VaultDevice?

  package init(keys: TierKeys, device: VaultDevice?) {
    self.keys = keys
    self.device = device
  }

  package func id(of identity: CredentialIdentity) throws(KeychainError) -> ItemID {
    let tag = try keys.derived.tag(of: identity) { () throws(KeychainError) in
      try Derivation.bytes(keys.open.bytes, "pk3/id", MetadataCoding.identityFields(identity))
    }
    return ItemID(tag)
  }

  /// Returns the number that entries have for a service or server.
  package func service(_ text: String) throws(KeychainError) -> UInt64 { try keys.service(text) }

  /// Seals an item, whose version and dates come from the credential.
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
      boxCount: box.count, boxHash: try Derivation.bytes(hashing: box),
      service: try service(credential.identity.serviceOrServer))
    return SealedItem(
      entry: entry, metadata: MetadataCoding.encode(credential), box: box)
  }

  /// Returns the credential of the put with a number from 0, which may be bound to another device.
  ///
  /// It is damaged if its metadata breaks the format or doesn't match the entry's id and service.
  package func credential(
    _ metadata: PartMetadata, at index: Int, of entry: ItemEntry, name: @autoclosure () -> String
  ) throws(KeychainError) -> Credential {
    guard let credential = metadata.credential(at: index, of: entry), try isNamed(entry, credential)
    else { throw .damagedItem(name()) }
    return credential
  }

  /// Whether an entry has the id and the service of a credential; only then is it returned.
  package func isNamed(_ entry: ItemEntry, _ credential: Credential) throws(KeychainError) -> Bool {
    guard try id(of: credential.identity) == entry.id else { return false }
    return try service(credential.identity.serviceOrServer) == entry.service
  }

  /// Opens the secret of an item; damaged if the entry doesn't name the box.
  package func secret(
    in box: Data, of entry: ItemEntry, name: @autoclosure () -> String
  ) throws(KeychainError) -> SecretBytes {
    guard !isOfOtherDevice(entry) else { throw .otherDevice(name()) }
    let key = try itemKey(entry.accessibility, entry.id, version: entry.version, name: name())
    guard box.count == entry.boxCount, try Derivation.bytes(hashing: box) == entry.boxHash,
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
    return try Self.key(of: id, version: version, classKey: classKey.bytes)
  }

  /// Returns the key of one version of a secret.
  static func key(
    of id: ItemID, version: UInt64, classKey: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes {
    let fields = FieldWriter.fields {
      id.write(to: &$0)
      $0.integer(version)
    }
    return try Derivation.key(classKey, "pk3/item", fields)
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

/// The plaintext of an item's metadata.
package enum MetadataCoding {
  /// The maximum number of bytes: the longest texts in as many fields as they can fill.
  ///
  /// Attributes have different names, so they can't all be empty.
  package static let maximumCount = 5 * Credential.maximumMetadataCount

  /// Returns the identity's fields, from which the item's id is derived.
  package static func identityFields(_ identity: CredentialIdentity) -> [UInt8] {
    FieldWriter.fields { writer in
      switch identity.kind {
      case .genericPassword(let service, let account):
        writer.integer(UInt8(0))
        for text in [identity.accessGroup, service, account] { writer.text(text) }
      case .internetPassword(let password):
        writer.integer(UInt8(1))
        writer.text(identity.accessGroup)
        writer.text(password.server)
        writer.text(password.protocol)
        writer.integer(UInt32(password.port))
        writer.text(password.path)
        writer.text(password.account)
        writer.text(password.securityDomain)
        writer.text(password.authenticationType)
      }
    }
  }

  package static func encode(_ credential: Credential) -> [UInt8] {
    identityFields(credential.identity)
      + FieldWriter.fields { writer in
        for text in [credential.label, credential.comment, credential.contentType] {
          writer.optional(text) { $0.text($1) }
        }
        for date in [credential.created, credential.modified] {
          writer.integer(date.microseconds ?? 0)
        }
        writer.optional(credential.expires?.microseconds) { $0.integer($1) }
        writer.list(Array(credential.attributes)) { writer, pair in
          writer.text(pair.name)
          writer.text(pair.value)
        }
      }
  }

  /// Returns a credential without a version; its texts have at most `textLimit` bytes together.
  package static func decode(
    _ bytes: RawSpan, _ accessibility: Accessibility,
    textLimit: Int = Credential.maximumMetadataCount
  ) throws(FieldReader.Malformed) -> Credential {
    var reader = FieldReader(textLimit: textLimit)
    var credential = Credential(try identity(&reader, bytes), accessibility: accessibility)
    credential.label = try reader.optional(bytes, String.init)
    credential.comment = try reader.optional(bytes, String.init)
    credential.contentType = try reader.optional(bytes, String.init)
    credential.created = Date(microseconds: try reader.integer(bytes))
    credential.modified = Date(microseconds: try reader.integer(bytes))
    credential.expires = try reader.optional(bytes) { reader, bytes throws(FieldReader.Malformed) in
      Date(microseconds: try reader.integer(bytes))
    }
    credential.attributes = try attributes(&reader, bytes)
    try reader.end(bytes)
    return credential
  }

  private static func identity(
    _ reader: inout FieldReader, _ bytes: RawSpan
  ) throws(FieldReader.Malformed) -> CredentialIdentity {
    switch try reader.integer(bytes, as: UInt8.self) {
    case 0:
      let group = try reader.text(bytes)
      return .genericPassword(
        service: try reader.text(bytes), account: try reader.text(bytes), accessGroup: group)
    case 1:
      let group = try reader.text(bytes)
      var password = InternetPassword(server: try reader.text(bytes), account: "")
      password.protocol = try reader.text(bytes)
      guard let port = UInt16(exactly: try reader.integer(bytes, as: UInt32.self)) else {
        throw FieldReader.Malformed()
      }
      password.port = port
      password.path = try reader.text(bytes)
      password.account = try reader.text(bytes)
      password.securityDomain = try reader.text(bytes)
      password.authenticationType = try reader.text(bytes)
      return CredentialIdentity(.internetPassword(password), accessGroup: group)
    default: throw FieldReader.Malformed()
    }
  }

  private static func attributes(
    _ reader: inout FieldReader, _ bytes: RawSpan
  ) throws(FieldReader.Malformed) -> CredentialAttributes {
    let pairs = try reader.list(bytes, ofSize: 4 + 4) {
      reader, bytes throws(FieldReader.Malformed) in
      (name: try reader.text(bytes), value: try reader.text(bytes))
    }
    guard
      pairs.allSatisfy({ !$0.name.isEmpty && !SearchablePair.reservedNames.contains($0.name) }),
      zip(pairs, pairs.dropFirst()).allSatisfy({ $0.name.hasLesserBytes(than: $1.name) })
    else { throw FieldReader.Malformed() }
    return CredentialAttributes(inOrder: pairs)
  }
}
