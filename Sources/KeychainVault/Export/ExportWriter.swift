internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

/// The stream of an export.
enum ExportStream {
  /// The number of bytes of content in each chunk except the last.
  static let chunkCount = 65536
}

/// Writes the content of an export, chunk by chunk.
///
/// It uses the memory of one chunk, however long the content is.
final class ExportWriter {
  private let output: FileDescriptor
  private var sealer: SecretStream.Sealer
  private var pending: SecretBuffer
  private var additionalData: [UInt8]

  /// Writes everything before the first chunk.
  init(_ key: borrowing ExportKey, to output: FileDescriptor) throws(KeychainError) {
    self.output = output
    do throws(SecretsError) {
      sealer = try SecretStream.Sealer(key: key.key)
      pending = try SecretBuffer()
    } catch {
      throw KeychainError(error)
    }
    additionalData = key.beginning + sealer.header
    try write(additionalData)
  }

  /// Appends fields to the content.
  func append(_ write: (inout FieldWriter) -> Void) throws(KeychainError) {
    let fields = FieldWriter.fields(write)
    try unsafe append(fields.span.bytes)
  }

  /// Appends `bytes x` to the content.
  func append(byteString secret: borrowing SecretBytes) throws(KeychainError) {
    let count = UInt32(truncatingIfNeeded: secret.count)
    try append { $0.integer(count) }
    try secret.withBytes { bytes throws(KeychainError) in try append(bytes) }
  }

  /// Ends the content.
  ///
  /// Without this, the export is incomplete.
  func finish() throws(KeychainError) {
    try seal(.final)
  }

  private func append(_ bytes: RawSpan) throws(KeychainError) {
    var offset = 0
    while offset < bytes.byteCount {
      // Sealed only when more follows, because the last chunk may be full.
      if pending.count == ExportStream.chunkCount { try seal(.message) }
      let end = min(bytes.byteCount, offset + ExportStream.chunkCount - pending.count)
      do throws(SecretsError) {
        try pending.append(bytes.extracting(offset..<end))
      } catch {
        throw KeychainError(error)
      }
      offset = end
    }
  }

  private func seal(_ tag: SecretStream.Tag) throws(KeychainError) {
    try write(sealer.seal(pending, tag: tag, additionalData: additionalData))
    additionalData = []
    pending.removeLast(pending.count)
  }

  private func write(_ bytes: [UInt8]) throws(KeychainError) {
    do throws(Errno) {
      try DescriptorIO.write(bytes, to: output)
    } catch {
      throw .system(error, "write", "the export")
    }
  }
}
