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

  private static let sealedCount = ExportStream.chunkCount + SecretStream.overhead

  /// Reads the stream's header, which must be next in the input.
  init(_ input: ReplayableInput, _ key: borrowing ExportKey) throws(KeychainError) {
    let header = try translated(input.read(SecretStream.headerCount))
    guard header.count == SecretStream.headerCount else {
      throw .damagedExport("it ends too early")
    }
    let opener = try Self.opener(key.key, header)
    let nothing = try Self.nothing()
    self.input = input
    self.opener = opener
    additionalData = key.beginning + header
    chunk = nothing
  }

  private static func opener(
    _ key: borrowing SecretBytes, _ header: [UInt8]
  ) throws(KeychainError) -> SecretStream.Opener {
    do throws(SecretsError) {
      return try unsafe SecretStream.Opener(key: key, header: header.span.bytes)
    } catch {
      throw KeychainError(error)
    }
  }

  private static func nothing() throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) { return try SecretBytes.random(count: 0) } catch {
      throw KeychainError(error)
    }
  }

  mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    as type: Value.Type = Value.self
  ) throws(KeychainError) -> Value {
    try bytes(Value.bitWidth / 8).withBytes { $0.littleEndian(at: 0, as: type) }
  }

  /// Reads `bytes x`.
  ///
  /// A length above the limit fails before memory is allocated.
  mutating func byteString(limit: Int) throws(KeychainError) -> SecretBytes {
    try bytes(try byteStringCount(limit: limit))
  }

  /// Reads `bytes x` as ``byteString(limit:)`` does, and passes it to `body` without a copy if
  /// possible.
  mutating func withByteString<Result>(
    limit: Int, _ body: (RawSpan) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    let count = try byteStringCount(limit: limit)
    if offset == chunk.count, count > 0 { try advance() }
    guard count <= chunk.count - offset else { return try bytes(count).withBytes(body) }
    let range = offset..<(offset + count)
    offset += count
    return try chunk.withBytes { bytes throws(KeychainError) in
      try body(bytes.extracting(range))
    }
  }

  /// Skips `bytes x`.
  ///
  /// - Returns: The length of `x`.
  mutating func skipByteString(limit: Int) throws(KeychainError) -> Int {
    let count = try byteStringCount(limit: limit)
    var rest = count
    while rest > 0 {
      if offset == chunk.count { try advance() }
      let part = min(rest, chunk.count - offset)
      offset += part
      rest -= part
    }
    return count
  }

  private mutating func byteStringCount(limit: Int) throws(KeychainError) -> Int {
    let count = Int(try integer(as: UInt32.self))
    guard count <= limit else { throw .damagedExport("an item is too large") }
    return count
  }

  /// Checks that nothing follows.
  mutating func end() throws(KeychainError) {
    guard isLast, offset == chunk.count else { throw .damagedExport("something follows its items") }
  }

  private mutating func bytes(_ count: Int) throws(KeychainError) -> SecretBytes {
    if offset == chunk.count, count > 0 { try advance() }
    do throws(SecretsError) {
      if count <= chunk.count - offset {
        let range = offset..<(offset + count)
        offset += count
        return try chunk.withBytes { bytes throws(SecretsError) in
          try SecretBytes(copying: bytes.extracting(range))
        }
      }
    } catch {
      throw KeychainError(error)
    }
    return try bytesOfSeveralChunks(count)
  }

  private mutating func bytesOfSeveralChunks(_ count: Int) throws(KeychainError) -> SecretBytes {
    do {
      var buffer = try SecretBuffer()
      while buffer.count < count {
        if offset == chunk.count { try advance() }
        let range = offset..<min(chunk.count, offset + count - buffer.count)
        try chunk.withBytes { bytes throws(SecretsError) in
          try buffer.append(bytes.extracting(range))
        }
        offset = range.upperBound
      }
      return try buffer.finish()
    } catch let error as SecretsError {
      throw KeychainError(error)
    } catch {
      throw error as? KeychainError ?? .damagedExport("it cannot be read")
    }
  }

  /// Opens the next chunk.
  private mutating func advance() throws(KeychainError) {
    guard !isLast else { throw .damagedExport("its items end too early") }
    let sealed = try translated(input.read(Self.sealedCount))
    guard sealed.count > SecretStream.overhead else { throw .damagedExport("it ends too early") }
    let tag: SecretStream.Tag
    do throws(SecretsError) {
      let message = try unsafe opener.open(sealed.span.bytes, additionalData: additionalData)
      tag = message.tag
      chunk = message.takeBytes()
    } catch {
      guard error.code == .authenticationFailed else { throw KeychainError(error) }
      throw .damagedExport("it was changed or cut off")
    }
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
