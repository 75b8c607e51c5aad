internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// Reads the content of an export, chunk by chunk.
///
/// Until ``end()`` returns, what was read may lack its end.
struct ExportReader: ~Copyable {
  private let input: ReplayableInput
  private var opener: SecretStream.Opener
  private var additionalData: [UInt8]
  private var chunk: SecretBytes
  private var offset = 0
  private var isLast = false

  private static let sealedCount = ExportWriter.chunkCount + SecretStream.overhead

  /// Reads the stream's header, which must be next in the input.
  init(_ input: ReplayableInput, _ key: borrowing ExportKey) throws(KeychainError) {
    let header = try translated(input.read(SecretStream.headerCount))
    guard header.count == SecretStream.headerCount else {
      throw .damagedExport("it ends too early")
    }
    let opener = try translated(
      secrets: unsafe SecretStream.Opener(key: key.key, header: header.span.bytes))
    let nothing = try translated(secrets: SecretBytes.random(count: 0))
    self.input = input
    self.opener = opener
    additionalData = key.beginning + header
    chunk = nothing
  }

  mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    as type: Value.Type = Value.self
  ) throws(KeychainError) -> Value {
    try withBytes(Value.bitWidth / 8) { $0.littleEndian(at: 0, as: type) }
  }

  /// Reads `bytes x`, and passes `x` to `body`.
  ///
  /// A length above the limit fails before memory is allocated.
  mutating func withByteString<Result: ~Copyable>(
    limit: Int, _ body: (RawSpan) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    let count = Int(try integer(as: UInt32.self))
    guard count <= limit else { throw .damagedExport("an item is too large") }
    return try withBytes(count, body)
  }

  /// Checks that nothing follows.
  mutating func end() throws(KeychainError) {
    guard isLast, offset == chunk.count else { throw .damagedExport("something follows its items") }
  }

  /// Passes the next bytes to `body`, without a copy if they lie in one chunk.
  private mutating func withBytes<Result: ~Copyable>(
    _ count: Int, _ body: (RawSpan) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    if offset == chunk.count, count > 0 { try advance() }
    guard count <= chunk.count - offset else { return try joined(count).withBytes(body) }
    let range = offset..<(offset + count)
    offset += count
    return try chunk.withBytes { bytes throws(KeychainError) in
      try body(bytes.extracting(range))
    }
  }

  /// Returns bytes that lie in several chunks.
  private mutating func joined(_ count: Int) throws(KeychainError) -> SecretBytes {
    var buffer = try translated(secrets: SecretBuffer())
    while buffer.count < count {
      if offset == chunk.count { try advance() }
      let range = offset..<min(chunk.count, offset + count - buffer.count)
      try translating { () throws(SecretsError) in
        try chunk.withBytes { bytes throws(SecretsError) in
          try buffer.append(bytes.extracting(range))
        }
      }
      offset = range.upperBound
    }
    do throws(SecretsError) { return try buffer.finish() } catch { throw KeychainError(error) }
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
