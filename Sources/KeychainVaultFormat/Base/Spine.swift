package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// The hashes of the last commits before a base, from which their digests are computed again.
package struct Spine: Hashable, Sendable {
  /// The number of the commit before the first hash.
  package let m: UInt64

  /// The digest of commit ``m``.
  package let digest: Data

  /// The body hashes of the commits after ``m``.
  package let hashes: [Data]

  /// The maximum number of hashes.
  package static let maximumCount = 1024

  /// The maximum number of bytes of a spine's box.
  package static let maximumBoxCount = SecretBox.overhead + 44 + 32 * maximumCount

  /// Returns the spine of the first base of a vault.
  package static func first(_ id: VaultID) throws(KeychainError) -> Spine {
    Spine(m: 0, digest: try Commit.first(id), hashes: [])
  }

  /// Opens the spine of the base with a number; `nil` if it does not open, breaks the format, or has
  /// not exactly the hashes that this base needs.
  package static func open(
    _ box: Data, before n: UInt64, of id: VaultID, keys: TierKeys
  ) throws(KeychainError) -> Spine? {
    guard box.count <= maximumBoxCount,
      let plain = try Sealing.openFields(box, with: keys.boxKey("pk3/spine").bytes),
      let spine = try? read(unsafe plain.span.bytes), n > 0,
      UInt64(spine.hashes.count) == min(n - 1, UInt64(maximumCount)),
      spine.m == n - 1 - UInt64(spine.hashes.count)
    else { return nil }
    let first = try Commit.first(id)
    return spine.m > 0 || spine.digest == first ? spine : nil
  }

  private static func read(_ bytes: RawSpan) throws(FieldReader.Malformed) -> Spine {
    var reader = FieldReader()
    let spine = Spine(
      m: try reader.integer(bytes), digest: try reader.data(bytes, count: 32),
      hashes: try reader.list(bytes, ofSize: 32) { reader, bytes throws(FieldReader.Malformed) in
        try reader.data(bytes, count: 32)
      })
    try reader.end(bytes)
    return spine
  }

  package func sealed(keys: TierKeys) throws(KeychainError) -> Data {
    try Sealing.seal(fields: fields, with: keys.boxKey("pk3/spine").bytes)
  }

  var fields: [UInt8] {
    FieldWriter.fields(capacity: 44 + 32 * hashes.count) {
      $0.integer(m)
      $0.append(digest)
      $0.list(hashes) { $0.append($1) }
    }
  }

  /// Returns the digests of the commits from ``m`` to the one before the base.
  package func digests() throws(KeychainError) -> [Data] {
    var digests = [digest]
    var last = digest
    for hash in hashes {
      last = try Commit.digest(after: last, bodyHash: hash)
      digests.append(last)
    }
    return digests
  }

  /// Returns the spine of a base that comes after more commits, the old base among them.
  package func following(_ bodyHashes: [Data]) throws(KeychainError) -> Spine {
    let all = hashes + bodyHashes
    let dropped = max(0, all.count - Self.maximumCount)
    var digest = digest
    for hash in all.prefix(dropped) {
      digest = try Commit.digest(after: digest, bodyHash: hash)
    }
    return Spine(m: m + UInt64(dropped), digest: digest, hashes: Array(all.dropFirst(dropped)))
  }
}
