package import FoundationEssentials
package import KeychainCredentials
internal import KeychainSecrets

/// The beginning of a frame; a mac under T0 shows that a writer of this epoch made it.
package struct FrameHeader: Hashable, Sendable {
  package static let count = fieldsCount + macCount
  private static let fieldsCount = 8 + 4 + 4
  private static let macCount = 16

  /// The maximum number of bytes of a commit's box.
  package static let maximumBoxCount = Sealing.greatestBoxCount(
    limit: 32 + 4 + Commit.maximumBodyCount + Commit.Proofs.maximumCount)
  private static let minimumBoxCount = Sealing.greatestBoxCount(limit: 0)

  /// The maximum number of bytes of all boxes of secrets of a commit.
  package static let maximumBoxesCount = 32 << 20

  package let n: UInt64

  /// The number of bytes of the commit's box.
  package let boxCount: Int

  /// The number of bytes of all boxes of secrets.
  package let boxesCount: Int

  package init(n: UInt64, boxCount: Int, boxesCount: Int) {
    self.n = n
    self.boxCount = boxCount
    self.boxesCount = boxesCount
  }

  /// Reads the header at an offset; `nil` if there is none with one of the numbers.
  package init?(
    _ bytes: RawSpan, at offset: Int, epoch: UInt64, open: SharedSecret,
    numbers: ClosedRange<UInt64>
  ) {
    guard offset >= 0, bytes.byteCount >= Self.count, offset <= bytes.byteCount - Self.count else {
      return nil
    }
    // So most offsets of other bytes cost next to nothing: no mac is computed.
    self.init(unproved: bytes, at: offset, numbers)
    guard let mac = try? mac(epoch: epoch, open: open),
      ConstantTime.equal(
        mac.bytes,
        bytes.extracting(offset + Self.fieldsCount..<offset + Self.count))
    else { return nil }
  }

  /// Returns the first offset whose number and lengths, without the mac, can be those of a header.
  package static func firstOffset(in bytes: RawSpan, _ numbers: ClosedRange<UInt64>) -> Int? {
    (0..<max(0, bytes.byteCount - count + 1)).first {
      Self(unproved: bytes, at: $0, numbers) != nil
    }
  }

  private init?(unproved bytes: RawSpan, at offset: Int, _ numbers: ClosedRange<UInt64>) {
    n = bytes.littleEndian(at: offset, as: UInt64.self)
    guard numbers.contains(n) else { return nil }
    boxCount = Int(bytes.littleEndian(at: offset + 8, as: UInt32.self))
    boxesCount = Int(bytes.littleEndian(at: offset + 12, as: UInt32.self))
    let padded = boxCount - SecretBox.overhead
    guard Self.minimumBoxCount...Self.maximumBoxCount ~= boxCount,
      boxesCount <= Self.maximumBoxesCount,
      Padding.paddedCount(for: padded - Padding.headerCount) == padded
    else { return nil }
  }

  /// The number of bytes of header and commit's box.
  package var frameCount: Int { Self.count + boxCount }

  /// The number of bytes of the frame with the boxes of secrets.
  package var totalCount: Int { frameCount + boxesCount }

  package func encoded(epoch: UInt64, open: SharedSecret) throws(KeychainError) -> Data {
    Data(copying: FieldWriter.fields(capacity: Self.count, write(to:)))
      + (try mac(epoch: epoch, open: open))
  }

  private func write(to writer: inout FieldWriter) {
    writer.integer(n)
    writer.integer(UInt32(truncatingIfNeeded: boxCount))
    writer.integer(UInt32(truncatingIfNeeded: boxesCount))
  }

  private func mac(epoch: UInt64, open: SharedSecret) throws(KeychainError) -> Data {
    let fields = FieldWriter.fields(capacity: 8 + Self.fieldsCount) {
      $0.integer(epoch)
      write(to: &$0)
    }
    return try Derivation.tag(open.bytes, "pk3/frame", fields).prefix(Self.macCount)
  }
}
