package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// A state with its place in the chain of states, and the signature of its writer in a shared vault.
package struct ChainedState: Hashable, Sendable {
  package let state: VaultState

  /// The digest of the state before; zero bytes for the first one.
  package let previous: Data

  /// The digest of this state and of all before it.
  package let digest: Data

  /// The writer's signature; `nil` in a local vault.
  package let signature: Data?

  package static let noPrevious = Data(repeating: 0, count: 32)

  /// Makes a state; signs it if there is a signer, whose number the state must have.
  package init(
    _ state: VaultState, after previous: Data, signer: StateSigner?
  ) throws(KeychainError) {
    let digest = try ChainEntry.digest(
      of: state, previous: previous)
    self.state = state
    self.previous = previous
    self.digest = digest
    signature = try signer.map { signer throws(KeychainError) in
      try signer.sign(digest, label: Self.label)
    }
  }

  private init(state: VaultState, previous: Data, signature: Data?) throws(KeychainError) {
    self.state = state
    self.previous = previous
    self.signature = signature
    digest = try ChainEntry.digest(
      of: state, previous: previous)
  }

  private static let label = "pk2/state"

  /// Seals the state for its row.
  package func sealed(under open: borrowing SecretBytes) throws(KeychainError) -> Data {
    try sealed(with: Derivation.key(open, StateKey.state.label))
  }

  /// Seals the state with the key of ``StateKey/state``.
  package func sealed(with key: borrowing SecretBytes) throws(KeychainError) -> Data {
    let fields =
      state.fields
      + FieldWriter.fields {
        $0.byteString(previous)
        $0.optional(signature) { $0.byteString($1) }
      }
    return try Sealing.seal(fields: fields, with: key)
  }

  /// Opens the box of a row; ``requireMatch(_:_:)`` checks whether it belongs to the vault.
  package static func open(
    _ box: Data, under open: borrowing SecretBytes
  ) throws(KeychainError) -> ChainedState {
    try self.open(box, with: Derivation.key(open, StateKey.state.label))
  }

  /// Opens the box of a row with the key of ``StateKey/state``.
  package static func open(
    _ box: Data, with key: borrowing SecretBytes
  ) throws(KeychainError) -> ChainedState {
    guard let plaintext = try Sealing.open(box, with: key),
      let read = plaintext.withBytes({ try? Self.read($0) })
    else { throw .damagedState("it does not open") }
    return try ChainedState(state: read.0, previous: read.1, signature: read.2)
  }

  private static func read(
    _ bytes: RawSpan
  ) throws(FieldReader.Malformed) -> (VaultState, Data, Data?) {
    var reader = FieldReader()
    let state = try VaultState(&reader, bytes)
    let previous = try reader.data(bytes)
    let signature = try reader.optional(bytes) { reader, bytes throws(FieldReader.Malformed) in
      try reader.data(bytes)
    }
    try reader.end(bytes)
    guard previous.count == 32, signature.map({ $0.count == Signature.count }) ?? true else {
      throw FieldReader.Malformed()
    }
    return (state, previous, signature)
  }

  /// Fails unless the state is one of this head and this list of members, and, in a shared vault,
  /// signed by a member that may write.
  package func requireMatch(_ head: HeadRow, _ list: MemberList) throws(KeychainError) {
    guard state.generation == head.generation, state.epoch == head.epoch else {
      throw .damagedState("it is of another epoch than the head")
    }
    guard state.serial == list.serial, try state.listHash == list.hash() else {
      throw .damagedState("it belongs to another list of members")
    }
    switch list.vaultKind {
    case .local:
      guard state.writer == 0, state.time == 0, signature == nil else {
        throw .damagedState("it names a writer in a vault that is not shared")
      }
    case .shared:
      guard let signature, let writer = list.member(state.writer), writer.writesStates,
        Signing.isRight(
          signature, of: Array(digest), label: Self.label, publicKey: writer.signingKey)
      else { throw .damagedState("no member that may write has signed it") }
    }
  }
}

extension KeychainError {
  package static func damagedState(_ reason: String) -> Self {
    Self(
      .damaged, "the vault's state is damaged: \(reason)",
      recovery: "restore a backup, or run \(.acceptRestored) if you know what happened")
  }
}
