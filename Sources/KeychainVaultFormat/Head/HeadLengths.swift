package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

extension VaultHead {
  /// Where the parts of a file lie: head, pages and boxes, index, spine, log.
  package struct Lengths: Hashable, Sendable {
    /// The number of bytes of the head.
    package var head: Int

    /// The number of bytes of the index's box.
    package var index: Int

    /// The number of bytes of the spine's box.
    package var spine: Int

    /// The place of the first frame.
    package var log: Int

    package init(head: Int, index: Int, spine: Int, log: Int) {
      self.head = head
      self.index = index
      self.spine = spine
      self.log = log
    }

    /// Where pages and boxes of secrets may lie.
    package var pagesRange: Range<Int> { head..<max(head, log - spine - index) }

    /// Where the index lies.
    package var indexRange: Range<Int> { pagesRange.upperBound..<pagesRange.upperBound + index }

    /// Where the spine lies.
    package var spineRange: Range<Int> { indexRange.upperBound..<indexRange.upperBound + spine }
  }

  /// The number of bytes at the beginning of a file that give the lengths.
  package static let prefixCount = 32

  static let magic = Array("PKVAULT\n".utf8)
  static let format: UInt32 = 3

  private static let database = Array("SQLite format 3".utf8)

  /// Reads the lengths at the beginning of a file.
  ///
  /// - Parameters:
  ///   - prefix: The first ``prefixCount`` bytes, or all of a shorter file.
  ///   - fileLength: The number of bytes of the file; the lengths must fit in it.
  ///   - path: The path, for errors.
  /// - Returns: The lengths.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/foreign``,
  ///   ``KeychainError/Code/unsupportedFormat`` or ``KeychainError/Code/damaged``.
  package static func lengths(
    prefix: Data, fileLength: Int, path: String
  ) throws(KeychainError) -> Lengths {
    let prefix = Array(prefix.prefix(prefixCount))
    guard !prefix.starts(with: database) else {
      throw KeychainError(
        .unsupportedFormat,
        "the vault \(path) has format 2, which only development versions read",
        recovery: "export it with that version, move the file away, and import the export here")
    }
    guard prefix.starts(with: magic) else {
      throw KeychainError(
        .foreign, "the file \(path) is not a vault, or its beginning is damaged",
        recovery: "name another path, for example with KEYCHAIN_VAULT, or restore a backup")
    }
    guard prefix.count == prefixCount else { throw .damagedHead(path) }
    let bytes = unsafe prefix.span.bytes
    let found = bytes.littleEndian(at: 8, as: UInt32.self)
    guard found == format else {
      throw KeychainError(
        .unsupportedFormat,
        "the vault \(path) has format \(found); this release reads format \(format)",
        recovery: found > format ? "use a newer release" : .restoreBackup)
    }
    guard
      let log = Int(exactly: bytes.littleEndian(at: 24, as: UInt64.self)), log <= fileLength
    else { throw .damagedHead(path) }
    let lengths = Lengths(
      head: Int(bytes.littleEndian(at: 12, as: UInt32.self)),
      index: Int(bytes.littleEndian(at: 16, as: UInt32.self)),
      spine: Int(bytes.littleEndian(at: 20, as: UInt32.self)), log: log)
    guard prefixCount...maximumCount ~= lengths.head, lengths.index <= VaultIndex.maximumBoxCount,
      lengths.spine <= Spine.maximumBoxCount, lengths.head + lengths.index + lengths.spine <= log
    else { throw .damagedHead(path) }
    return lengths
  }
}

extension KeychainError {
  /// Returns the error for a file that is damaged as a whole.
  package static func damagedVault(_ path: String, _ reason: String) -> Self {
    Self(.damaged, "the vault \(path) is damaged: \(reason)", recovery: .restoreBackup)
  }

  static func damagedHead(_ path: String) -> Self { .damagedVault(path, "its head is damaged") }
}
