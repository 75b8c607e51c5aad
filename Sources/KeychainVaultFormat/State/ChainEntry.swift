package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// One of the last states of a vault, as the chain remembers it.
package struct ChainEntry: Hashable, Sendable {
  /// The number of states that the chain has.
  package static let length: UInt64 = 1000

  package let counter: UInt64
  package let previous: Data
  package let stateHash: Data
  package let writer: UInt32
  package let time: Int64

  /// The entry of a state.
  package init(_ chained: ChainedState) throws(KeychainError) {
    counter = chained.state.counter
    previous = chained.previous
    stateHash = try chained.state.hash()
    writer = chained.state.writer
    time = chained.state.time
  }

  /// The place of a state in the chain's table.
  package static func place(of counter: UInt64) -> UInt32 { UInt32(counter % length) }

  /// The digest of the state and of all before it.
  package func digest() throws(KeychainError) -> Data {
    try Self.digest(
      counter: counter, previous: previous, stateHash: stateHash, writer: writer, time: time)
  }

  static func digest(of state: VaultState, previous: Data) throws(KeychainError) -> Data {
    try digest(
      counter: state.counter, previous: previous, stateHash: state.hash(), writer: state.writer,
      time: state.time)
  }

  private static func digest(
    counter: UInt64, previous: Data, stateHash: Data, writer: UInt32, time: Int64
  ) throws(KeychainError) -> Data {
    try Derivation.hash(
      "pk2/chain",
      FieldWriter.fields {
        $0.integer(counter)
        $0.byteString(previous)
        $0.byteString(stateHash)
        $0.integer(writer)
        $0.integer(time)
      })
  }

  package func sealed(under open: borrowing SecretBytes) throws(KeychainError) -> Data {
    try sealed(with: Derivation.key(open, StateKey.chain.label))
  }

  /// Seals the entry with the key of ``StateKey/chain``.
  package func sealed(with key: borrowing SecretBytes) throws(KeychainError) -> Data {
    let fields = FieldWriter.fields {
      $0.integer(counter)
      $0.byteString(previous)
      $0.byteString(stateHash)
      $0.integer(writer)
      $0.integer(time)
    }
    return try Sealing.seal(fields: fields, with: key)
  }

  /// Opens the entry of a counter; `nil` if the box has none for it.
  package static func open(
    _ box: Data, counter: UInt64, under open: borrowing SecretBytes
  ) throws(KeychainError) -> ChainEntry? {
    let key = try Derivation.key(open, StateKey.chain.label)
    guard let plaintext = try Sealing.open(box, with: key),
      let entry = plaintext.withBytes({ try? ChainEntry($0) }), entry.counter == counter
    else { return nil }
    return entry
  }

  private init(_ bytes: RawSpan) throws(FieldReader.Malformed) {
    var reader = FieldReader()
    counter = try reader.integer(bytes)
    previous = try reader.data(bytes)
    stateHash = try reader.data(bytes)
    writer = try reader.integer(bytes)
    time = try reader.integer(bytes)
    try reader.end(bytes)
    guard previous.count == 32, stateHash.count == 32 else { throw FieldReader.Malformed() }
  }
}
