internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

/// Writes the content of an export, chunk by chunk.
///
/// It uses the memory of one chunk, however long the content is.
final class ExportWriter {
  /// The number of bytes of content in each chunk except the last.
  static let chunkCount = 65536

  private let output: FileDescriptor
  private var sealer: SecretStream.Sealer
  private var pending: SecretBuffer
  private var additionalData: [UInt8]

  /// Writes everything before the first chunk.
  init(_ key: borrowing ExportKey, to output: FileDescriptor) throws(KeychainError) {
    self.output = output
    sealer = try translated(secrets: SecretStream.Sealer(key: key.key))
    pending = try translated(secrets: SecretBuffer())
    additionalData = key.beginning + sealer.header
    try write(additionalData)
  }

  /// Appends fields to the content.
  func append(_ write: (inout FieldWriter) -> Void) throws(KeychainError) {
    let fields = FieldWriter.fields(write)
    try unsafe append(fields.span.bytes)
  }

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

  private func append(byteString secret: borrowing SecretBytes) throws(KeychainError) {
    let count = UInt32(truncatingIfNeeded: secret.count)
    try append { $0.integer(count) }
    try secret.withBytes { bytes throws(KeychainError) in try append(bytes) }
  }

  /// Ends the content, which is incomplete without.
  func finish() throws(KeychainError) {
    try seal(.final)
  }

  private func append(_ bytes: RawSpan) throws(KeychainError) {
    var offset = 0
    while offset < bytes.byteCount {
      // Sealed only when more follows, because the last chunk may be full.
      if pending.count == Self.chunkCount { try seal(.message) }
      let end = min(bytes.byteCount, offset + Self.chunkCount - pending.count)
      try translated(secrets: pending.append(bytes.extracting(offset..<end)))
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
