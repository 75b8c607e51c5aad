internal import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// The metadata of the items that a part puts.
///
/// It lies in ordinary memory: what is read from it are strings of a ``Credential``, and guarded
/// memory for each part would take most of the time of a search.
package final class PartMetadata: Sendable {
  private let bytes: [UInt8]
  private let ranges: [Range<Int>]

  /// No part has more bytes of metadata: neither a commit nor a page is longer.
  private static let maximumCount = 1 << 20

  /// Opens the inner half of a part; `nil` if it does not open or is not of `count` items.
  init?(_ inner: Data, count: Int, with key: SharedSecret) throws(KeychainError) {
    guard count > 0 else {
      guard inner.isEmpty else { return nil }
      (bytes, ranges) = ([], [])
      return
    }
    guard inner.count <= Sealing.greatestBoxCount(limit: Self.maximumCount),
      let plain = try Sealing.openFields(inner, with: key.bytes),
      let ranges = Self.ranges(unsafe plain.span.bytes, count: count)
    else { return nil }
    bytes = plain
    self.ranges = ranges
  }

  /// The metadata of one item, as they are sealed.
  package init(_ metadata: SharedSecret) {
    bytes = metadata.bytes.withBytes { $0.array }
    ranges = [0..<bytes.count]
  }

  private static func ranges(_ padded: RawSpan, count: Int) -> [Range<Int>]? {
    guard let content = Padding.range(in: padded) else { return nil }
    return try? ranges(padded, in: content, count: count)
  }

  private static func ranges(
    _ padded: RawSpan, in content: Range<Int>, count: Int
  ) throws(FieldReader.Malformed) -> [Range<Int>] {
    let bytes = padded.extracting(content)
    var reader = FieldReader()
    var ranges: [Range<Int>] = []
    for _ in 0..<count {
      let range = try reader.range(bytes)
      ranges.append(
        range.lowerBound + content.lowerBound..<range.upperBound + content.lowerBound)
    }
    try reader.end(bytes)
    return ranges
  }

  /// Seals the metadata of items, in their order.
  ///
  /// Their length is not checked here: a commit that has too much of it is not sealed.
  static func seal(
    _ metadata: [SharedSecret], with key: SharedSecret
  ) throws(KeychainError) -> Data {
    let fields = FieldWriter.fields(capacity: 256 * metadata.count) { writer in
      for item in metadata { item.bytes.withBytes { writer.byteString($0) } }
    }
    return try Sealing.seal(fields: Sealing.padded(fields: fields), with: key.bytes)
  }

  /// Returns a copy of the metadata of the put with a number from 0, to seal it again as it is.
  package func copy(at index: Int) throws(KeychainError) -> SharedSecret {
    let bytes = bytes
    let plain = unsafe bytes.span.bytes
    return SharedSecret(
      try translated(secrets: SecretBytes(copying: plain.extracting(range(index)))))
  }

  /// Returns the credential of the put with a number from 0; `nil` if its metadata breaks the format.
  ///
  /// That id and service are those of its identity, ``ItemSealing/credential(_:at:of:name:)`` checks.
  package func credential(at index: Int, of entry: ItemEntry) -> Credential? {
    let range = range(index)
    guard range.count <= MetadataCoding.maximumCount else { return nil }
    let bytes = bytes
    let plain = unsafe bytes.span.bytes
    var credential = try? MetadataCoding.decode(plain.extracting(range), entry.accessibility)
    credential?.version = entry.version
    return credential
  }

  /// Nothing for a number that no put has, which then does not decode.
  private func range(_ index: Int) -> Range<Int> {
    ranges.indices.contains(index) ? ranges[index] : 0..<0
  }
}
