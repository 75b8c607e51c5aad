package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// What the tree of tokens lists for a token: the number of its items, and the sum of their terms.
package struct TokenEntry: Hashable, Sendable {
  package private(set) var count: UInt64

  /// A little-endian number of 32 bytes.
  package private(set) var sum: Data

  /// The entry of a token without items, which the tree does not list.
  package static let none = TokenEntry(count: 0, sum: Data(repeating: 0, count: 32))

  private init(count: UInt64, sum: Data) {
    self.count = count
    self.sum = sum
  }

  /// Reads a value of the tree.
  package init(_ value: Data?) {
    guard let value else {
      self = .none
      return
    }
    count = value.bytes.littleEndian(at: 0, as: UInt64.self)
    sum = Data(value.dropFirst(8))
  }

  /// The value for the tree; `nil` without items.
  package var value: Data? {
    count == 0 ? nil : Data(FieldWriter.fields { $0.integer(count) }) + sum
  }

  /// Adds an item's term.
  package mutating func add(_ term: Data) {
    count += 1
    var carry: UInt16 = 0
    sum = Data(
      zip(sum, term).map { a, b in
        let digit = UInt16(a) + UInt16(b) + carry
        carry = digit >> 8
        return UInt8(truncatingIfNeeded: digit)
      })
  }

  /// Removes an item's term.
  ///
  /// - Returns: `false` if the entry cannot have had it.
  package mutating func remove(_ term: Data) -> Bool {
    guard count > 0 else { return false }
    count -= 1
    var borrow: Int16 = 0
    sum = Data(
      zip(sum, term).map { a, b in
        let digit = Int16(a) - Int16(b) - borrow
        borrow = digit < 0 ? 1 : 0
        return UInt8(truncatingIfNeeded: digit)
      })
    return count > 0 || sum == Self.none.sum
  }
}

/// Computes the terms of items in the entries of their tokens.
package struct TokenTerms: Sendable {
  private let key: SharedSecret

  package init(open: borrowing SecretBytes) throws(KeychainError) {
    key = SharedSecret(try Derivation.key(open, StateKey.tokenTerms.label))
  }

  /// Uses the key that these keys have derived before.
  package init(_ keys: TierKeys) throws(KeychainError) {
    key = try keys.stateKey(.tokenTerms)
  }

  package func term(of token: Data, item id: Data) throws(KeychainError) -> Data {
    try Derivation.tag(
      key.bytes, "pk2/token.term",
      FieldWriter.fields {
        $0.byteString(token)
        $0.byteString(id)
      })
  }
}
