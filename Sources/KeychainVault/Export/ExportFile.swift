internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// An export that was opened with its passphrase.
///
/// It can be read more than once.
struct ExportFile: ~Copyable {
  private let input: ReplayableInput
  private let key: ExportKey

  init(_ input: ReplayableInput, _ key: consuming ExportKey) {
    self.input = input
    self.key = key
  }

  /// What a first pass over the export finds, before anything is changed.
  struct Survey {
    var itemCount = 0
    var leftOutCount = 0

    /// The requirement that must be met to put the items into a vault.
    var requirement = Accessibility.UnlockRequirement.nothing
  }

  /// Reads the whole export, and checks that it is complete, contains no item twice, and has no item
  /// with longer texts than a store takes.
  ///
  /// The input must be positioned after the head of the file.
  borrowing func survey() throws(KeychainError) -> Survey {
    var survey = Survey()
    var content = try ExportContent(ExportReader(input, key))
    var names: Set<[UInt64]> = []
    var tooLong: [String] = []
    while let credential = try content.nextCredential() {
      let identity = credential.identity
      let name = try Derivation.hash(Data(MetadataCoding.identityFields(identity)), count: 16)
      let halves = [0, 8].map { name.bytes.littleEndian(at: $0, as: UInt64.self) }
      guard names.insert(halves).inserted else {
        throw .damagedExport("it holds \(identity) twice")
      }
      if credential.exceedsMetadataLimit { tooLong.append(identity.shortDescription) }
      survey.itemCount += 1
      survey.requirement = max(survey.requirement, credential.accessibility.unlockRequirement)
    }
    if let error = KeychainError(
      tooLong: tooLong, recovery: "shorten their texts where they come from, and export again")
    {
      throw error
    }
    survey.leftOutCount = Int(clamping: content.leftOutCount)
    return survey
  }

  /// Reads the whole export again, item by item; when this returns, it was complete.
  borrowing func forEachItem(
    _ body: (borrowing OpenedItem) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    try translated(input.rewind())
    _ = try translated(input.read(key.beginning.count))
    var content = try ExportContent(ExportReader(input, key))
    while let item = try content.next() { try body(item) }
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
  mutating func next() throws(KeychainError) -> OpenedItem? {
    guard let accessibility = try nextClass() else { return nil }
    let metadata = try reader.withByteString(limit: Self.maximumMetadataCount, Self.copy)
    let secret = try reader.withByteString(limit: Credential.maximumSecretCount, Self.copy)
    let credential = try metadata.withBytes { bytes throws(KeychainError) in
      try Self.credential(bytes, accessibility)
    }
    return OpenedItem(credential: credential, metadata: metadata, secret: secret)
  }

  /// Returns the next credential without its secret; `nil` as ``next()``.
  mutating func nextCredential() throws(KeychainError) -> Credential? {
    guard let accessibility = try nextClass() else { return nil }
    let credential = try reader.withByteString(limit: Self.maximumMetadataCount) {
      bytes throws(KeychainError) in try Self.credential(bytes, accessibility)
    }
    try reader.withByteString(limit: Credential.maximumSecretCount) { _ in }
    return credential
  }

  private static func copy(_ bytes: RawSpan) throws(KeychainError) -> SecretBytes {
    try translated(secrets: SecretBytes(copying: bytes))
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
