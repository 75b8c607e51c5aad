package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The row of an item.
package struct ItemRow: Hashable, Sendable {
  package let id: Data
  package let accessibility: Accessibility

  /// The device to which the item is bound; `nil` if it isn't.
  package let device: Data?

  /// Random at each write of the item.
  package let version: UInt64

  /// The tokens by which the item is found, 16 bytes each, in the order of their bytes.
  package let tokens: Data

  /// The hash of the box of the secret, so that a row is checked without loading its secret.
  package let secretHash: Data
  package let metadata: Data

  /// The box of the secret; empty if it was not loaded.
  package let secret: Data

  package static let tokenCount = 16

  /// More bytes of tokens than the longest metadata has.
  package static let maximumTokensCount = 8 << 20

  package init(
    id: Data, accessibility: Accessibility, device: Data?, version: UInt64, tokens: Data,
    secretHash: Data, metadata: Data, secret: Data
  ) {
    self.id = id
    self.accessibility = accessibility
    self.device = device
    self.version = version
    self.tokens = tokens
    self.secretHash = secretHash
    self.metadata = metadata
    self.secret = secret
  }

  /// The row without the box of its secret.
  package var withoutSecret: ItemRow {
    ItemRow(
      id: id, accessibility: accessibility, device: device, version: version, tokens: tokens,
      secretHash: secretHash, metadata: metadata, secret: Data())
  }

  /// The tokens, one by one.
  package var allTokens: [Data] {
    stride(from: tokens.startIndex, to: tokens.endIndex, by: Self.tokenCount).map {
      Data(tokens[$0..<min($0 + Self.tokenCount, tokens.endIndex)])
    }
  }

  /// Returns the hash that the tree of items has for the row.
  ///
  /// It does not need the box of the secret, only its hash.
  package func rowHash() throws(KeychainError) -> Data {
    let hashes = [
      try Derivation.hash(metadata, count: 32), secretHash, try Derivation.hash(tokens, count: 32),
    ]
    return try Derivation.hash(
      "pk2/item.row",
      FieldWriter.fields {
        $0.byteString(id)
        $0.integer(accessibility.rawValue)
        $0.optional(device) { $0.byteString($1) }
        $0.integer(version)
        for hash in hashes { $0.byteString(hash) }
      })
  }

  /// Whether the loaded box of the secret is the one that the row names.
  package func hasItsSecret() throws(KeychainError) -> Bool {
    try Derivation.hash(secret, count: 32) == secretHash
  }

  /// Returns the name, in errors, of a damaged item whose metadata cannot be read.
  package static func name(of id: Data) -> String {
    "item " + id.prefix(6).hexadecimal
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

/// An item that was opened.
package struct OpenedItem: ~Copyable {
  package let credential: Credential

  /// The metadata as the format encodes it, byte for byte.
  package let metadata: SecretBytes
  package let secret: SecretBytes

  /// Returns the item as a store returns a secret.
  package consuming func stored() -> StoredSecret {
    StoredSecret(credential: credential, secret: secret)
  }
}
