package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// What whoever has T0 knows of an item.
package struct ItemEntry: Hashable, Sendable {
  package let id: ItemID
  package let accessibility: Accessibility

  /// The id of the device to which the item is bound, 16 bytes; `nil` if it isn't.
  package let device: Data?

  /// Random at each write of the item.
  package let version: UInt64

  /// The number of bytes of the secret's box.
  package let boxCount: Int

  /// The hash of the secret's box.
  package let boxHash: Data

  /// Names the service or server, for whoever knows it; see ``ItemSealing/service(_:)``.
  package let service: UInt64

  /// The numbers of bytes that the box of a secret can have.
  private static let boxCounts =
    Sealing.greatestBoxCount(
      limit: 0)...Sealing.greatestBoxCount(
      limit: Credential.maximumSecretCount)

  /// The number of bytes of the shortest encoded entry.
  static let minimumCount = ItemID.count + 1 + 1 + 8 + 4 + 32 + 8

  package init(
    id: ItemID, accessibility: Accessibility, device: Data?, version: UInt64, boxCount: Int,
    boxHash: Data, service: UInt64
  ) {
    self.id = id
    self.accessibility = accessibility
    self.device = device
    self.version = version
    self.boxCount = boxCount
    self.boxHash = boxHash
    self.service = service
  }

  package var tier: Tier { Tier(accessibility.unlockRequirement) }

  /// The number of bytes of the encoded entry.
  package var count: Int { Self.minimumCount + (device?.count ?? 0) }

  /// Reads an entry; fails unless its class belongs to the tier and it has a device exactly if the
  /// class needs one.
  init(
    _ reader: inout FieldReader, _ bytes: RawSpan, tier: Tier
  ) throws(FieldReader.Malformed) {
    id = ItemID(bytes, at: try reader.fixed(bytes, ItemID.count).lowerBound)
    guard let accessibility = Accessibility(rawValue: try reader.integer(bytes)) else {
      throw FieldReader.Malformed()
    }
    self.accessibility = accessibility
    device = try reader.optionalData(bytes, count: 16)
    version = try reader.integer(bytes)
    boxCount = Int(try reader.integer(bytes, as: UInt32.self))
    boxHash = try reader.data(bytes, count: 32)
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
    writer.append(boxHash)
    writer.integer(service)
  }
}

/// An item that was sealed, for a commit or a page.
package struct SealedItem: Sendable {
  package let entry: ItemEntry

  /// The metadata as the format encodes it; a part seals it with that of its other items.
  package let metadata: SharedSecret

  /// The box of the secret.
  package let box: Data

  package init(entry: ItemEntry, metadata: SharedSecret, box: Data) {
    self.entry = entry
    self.metadata = metadata
    self.box = box
  }
}

/// The versions of items.
package enum ItemVersion {
  /// Returns 63 random bits, not 0.
  ///
  /// A counter would repeat after an item is removed and added again, and with it check-and-set
  /// would pass wrongly, and item keys would repeat.
  package static func random() throws(KeychainError) -> UInt64 {
    let bytes = try translated(secrets: SecretBytes.random(count: 8))
    let bits = bytes.withBytes { $0.littleEndian(at: 0, as: UInt64.self) } & .max >> 1
    return max(bits, 1)
  }
}
