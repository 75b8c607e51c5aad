internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem

/// An export that its passphrase opened, and that can be read more than once.
struct ExportFile: ~Copyable {
  let input: ReplayableInput
  let key: ExportKey

  /// The findings of a first pass over the export, before anything is changed.
  struct Survey {
    var itemCount = 0
    var leftOutCount = 0

    /// The unlock state needed to put the items into a vault.
    var requirement = Accessibility.UnlockRequirement.nothing
  }

  /// Reads the whole export from the end of its head, and checks that it is complete, contains no
  /// item twice, and contains no texts that are too long for a store.
  borrowing func survey() throws(KeychainError) -> Survey {
    var survey = Survey()
    var content = try ExportContent.begin(input, key)
    var names: Set<Bytes32> = []
    var tooLong: [String] = []
    while let credential = try content.nextCredential() {
      let identity = credential.identity
      let name = try Derivation.bytes(hashing: Data(MetadataCoding.identityFields(identity)))
      guard names.insert(name).inserted else {
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

  /// Reads the whole export again, item by item; if this returns, the export was complete.
  borrowing func forEachItem(
    _ body: (borrowing OpenedItem) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    try translated(input.rewind())
    _ = try translated(input.read(key.beginning.count))
    var content = try ExportContent.begin(input, key)
    while let item = try content.next() { try body(item) }
  }
}

/// The content of an export, item by item; its end may be missing until ``next()`` returns `nil`.
struct ExportContent: ~Copyable {
  private(set) var leftOutCount: UInt64 = 0
  private var remainingCount: UInt64 = 0

  private let input: ReplayableInput
  private var opener: SecretStream.Opener
  private var additionalData: [UInt8]
  private var chunk: SecretBytes
  private var offset = 0
  private var isLast = false

  // The limits of the export format, in bytes, which exceed those of stores.
  private static let maximumTextCount = 1 << 20
  private static let maximumMetadataCount = 4 << 20
  private static let sealedCount = ExportWriter.chunkCount + SecretStream.overhead

  /// Reads everything before the items; the stream's header must be next in the input.
  static func begin(
    _ input: ReplayableInput, _ key: borrowing ExportKey
  ) throws(KeychainError) -> ExportContent {
    var content = try ExportContent(input, key)
    _ = try content.integer(as: Int64.self)
    content.remainingCount = try content.integer()
    content.leftOutCount = try content.integer()
    return content
  }

  private init(_ input: ReplayableInput, _ key: borrowing ExportKey) throws(KeychainError) {
    let header = try translated(input.read(SecretStream.headerCount))
    guard header.count == SecretStream.headerCount else {
      throw .damagedExport("it ends too early")
    }
    let opener = try unsafe SecretStream.Opener(key: key.key, header: header.span.bytes)
    let nothing = try SecretBytes.random(count: 0)
    self.input = input
    self.opener = opener
    additionalData = key.beginning + header
    chunk = nothing
  }

  /// Returns the next item; `nil` after the last one, if the export is complete.
  mutating func next() throws(KeychainError) -> OpenedItem? {
    guard let accessibility = try nextClass() else { return nil }
    let metadata = try withByteString(limit: Self.maximumMetadataCount) { $0.array }
    let credential = try Self.credential(unsafe metadata.span.bytes, accessibility)
    let secret = try withByteString(limit: Credential.maximumSecretCount) {
      bytes throws(KeychainError) in try SecretBytes(copying: bytes)
    }
    return OpenedItem(credential: credential, metadata: metadata, secret: secret)
  }

  /// Returns the next credential without its secret; `nil` as ``next()``.
  mutating func nextCredential() throws(KeychainError) -> Credential? {
    guard let accessibility = try nextClass() else { return nil }
    let credential = try withByteString(limit: Self.maximumMetadataCount) {
      bytes throws(KeychainError) in try Self.credential(bytes, accessibility)
    }
    var skipped = try byteStringCount(limit: Credential.maximumSecretCount)
    while skipped > 0 {
      if offset == chunk.count { try advance() }
      let part = min(skipped, chunk.count - offset)
      offset += part
      skipped -= part
    }
    return credential
  }

  private mutating func nextClass() throws(KeychainError) -> Accessibility? {
    guard remainingCount > 0 else {
      guard isLast, offset == chunk.count else {
        throw .damagedExport("something follows its items")
      }
      return nil
    }
    remainingCount -= 1
    guard let accessibility = Accessibility(rawValue: try integer()),
      !accessibility.isThisDeviceOnly
    else { throw .damagedExport("an item has an invalid class") }
    return accessibility
  }

  private static func credential(
    _ metadata: RawSpan, _ accessibility: Accessibility
  ) throws(KeychainError) -> Credential {
    guard
      let credential = try? MetadataCoding.decode(
        metadata, accessibility, textLimit: maximumTextCount)
    else { throw .damagedExport("the metadata of an item breaks the rules") }
    return credential
  }

  private mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    as type: Value.Type = Value.self
  ) throws(KeychainError) -> Value {
    try withBytes(Value.bitWidth / 8) { $0.littleEndian(at: 0, as: type) }
  }

  /// Reads `bytes x`, and passes `x` to `body`; a length above the limit fails before memory is
  /// allocated.
  private mutating func withByteString<Result: ~Copyable>(
    limit: Int, _ body: (RawSpan) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result { try withBytes(byteStringCount(limit: limit), body) }

  private mutating func byteStringCount(limit: Int) throws(KeychainError) -> Int {
    let count = Int(try integer(as: UInt32.self))
    guard count <= limit else { throw .damagedExport("an item is too large") }
    return count
  }

  /// Passes the next bytes to `body`, without a copy if they lie in one chunk.
  private mutating func withBytes<Result: ~Copyable>(
    _ count: Int, _ body: (RawSpan) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    if offset == chunk.count, count > 0 { try advance() }
    guard count <= chunk.count - offset else { return try joined(count).withBytes(body) }
    let range = offset..<(offset + count)
    offset += count
    return try chunk.withBytes { bytes throws(KeychainError) in try body(bytes.extracting(range)) }
  }

  /// Returns bytes that span several chunks.
  private mutating func joined(_ count: Int) throws(KeychainError) -> SecretBytes {
    var buffer = try SecretBuffer()
    while buffer.count < count {
      if offset == chunk.count { try advance() }
      let range = offset..<min(chunk.count, offset + count - buffer.count)
      try chunk.withBytes { bytes throws(KeychainError) in
        try buffer.append(bytes.extracting(range))
      }
      offset = range.upperBound
    }
    return try buffer.finish()
  }

  /// Opens the next chunk.
  private mutating func advance() throws(KeychainError) {
    guard !isLast else { throw .damagedExport("its items end too early") }
    let sealed = try translated(input.read(Self.sealedCount))
    guard sealed.count > SecretStream.overhead else { throw .damagedExport("it ends too early") }
    let opened = try unlessRefused(
      unsafe opener.open(sealed.span.bytes, additionalData: additionalData))
    guard let message = opened else { throw .damagedExport("it was changed or cut off") }
    let tag = message.tag
    chunk = message.takeBytes()
    additionalData = []
    offset = 0
    switch tag {
    case .final:
      guard try translated(input.read(1)).isEmpty else {
        throw .damagedExport("it goes on after its end")
      }
      isLast = true
    case .message where sealed.count == Self.sealedCount: break
    default: throw .damagedExport("a part of it has no place there")
    }
  }
}
