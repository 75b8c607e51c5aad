internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// An item in transfer between two vaults.
struct ExportedItem: ~Copyable {
  /// The credential in the metadata; its version is 0.
  var credential: Credential

  /// The metadata as the format encodes it, byte for byte.
  let metadata: SecretBytes
  let secret: SecretBytes
}

extension ExportWriter {
  /// Writes everything before the items.
  func begin(itemCount: Int, leftOutCount: Int) throws(KeychainError) {
    let time = Date().microseconds ?? 0
    try append {
      $0.integer(time)
      $0.integer(UInt64(itemCount))
      $0.integer(UInt64(leftOutCount))
    }
  }

  func append(_ item: borrowing OpenedItem) throws(KeychainError) {
    let accessibility = item.credential.accessibility.rawValue
    try append { $0.integer(accessibility) }
    try append(byteString: item.metadata)
    try append(byteString: item.secret)
  }
}

/// The content of an export, item by item.
struct ExportContent: ~Copyable {
  let itemCount: UInt64
  let leftOutCount: UInt64

  private var reader: ExportReader
  private var readCount: UInt64 = 0

  init(_ reader: consuming ExportReader) throws(KeychainError) {
    _ = try reader.integer(as: Int64.self)
    let itemCount: UInt64 = try reader.integer()
    let leftOutCount: UInt64 = try reader.integer()
    self.itemCount = itemCount
    self.leftOutCount = leftOutCount
    self.reader = reader
  }

  /// Returns the next item; `nil` after the last one, if the export is complete.
  mutating func next() throws(KeychainError) -> ExportedItem? {
    guard let accessibility = try nextClass() else { return nil }
    let metadata = try reader.byteString(limit: Self.maximumMetadataCount)
    let secret = try reader.byteString(limit: Credential.maximumSecretCount)
    let credential = try metadata.withBytes { bytes throws(KeychainError) in
      try Self.credential(bytes, accessibility)
    }
    return ExportedItem(credential: credential, metadata: metadata, secret: secret)
  }

  /// Returns the next credential without its secret; `nil` as ``next()``.
  mutating func nextCredential() throws(KeychainError) -> Credential? {
    guard let accessibility = try nextClass() else { return nil }
    let credential = try reader.withByteString(limit: Self.maximumMetadataCount) {
      bytes throws(KeychainError) in try Self.credential(bytes, accessibility)
    }
    _ = try reader.skipByteString(limit: Credential.maximumSecretCount)
    return credential
  }

  private mutating func nextClass() throws(KeychainError) -> Accessibility? {
    guard readCount < itemCount else {
      try reader.end()
      return nil
    }
    readCount += 1
    guard let accessibility = Accessibility(rawValue: try reader.integer()),
      !accessibility.isThisDeviceOnly
    else { throw .damagedExport("an item has an invalid class") }
    return accessibility
  }

  // The limits of the format of exports, in bytes. What stores take is less.
  private static let maximumTextCount = 1 << 20
  private static let maximumMetadataCount = 4 << 20

  private static func credential(
    _ metadata: RawSpan, _ accessibility: Accessibility
  ) throws(KeychainError) -> Credential {
    guard
      let credential = try? MetadataCoding.decode(
        metadata, accessibility, textLimit: maximumTextCount)
    else {
      throw .damagedExport("the metadata of an item breaks the rules")
    }
    return credential
  }
}
