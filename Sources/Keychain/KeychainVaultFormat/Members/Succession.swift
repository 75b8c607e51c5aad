package import FoundationEssentials
package import KeychainCredentials
package import KeychainSecrets

/// The key that signs the list of members; it changes when an administrator leaves.
package struct AdministrationKey: Sendable {
  private let seed: SharedSecret
  package let publicKey: Data

  init(seed: consuming SecretBytes) throws(KeychainError) {
    publicKey = try translated(secrets: Data(Signature.publicKey(of: seed)))
    self.seed = SharedSecret(seed)
  }

  package static func random() throws(KeychainError) -> AdministrationKey {
    try AdministrationKey(seed: translated(secrets: SecretBytes.random(count: Signature.seedCount)))
  }

  /// Opens the box of the seed with the root key; fails if it is damaged or not the key `expected`.
  package init(box: Data, root: borrowing SecretBytes, expected: Data) throws(KeychainError) {
    let key = try Derivation.key(root, "pk3/admin")
    guard let seed = try Sealing.open(box, with: key), seed.count == Signature.seedCount else {
      throw .damagedMembers("its administration key does not open")
    }
    try self.init(seed: seed)
    guard publicKey == expected else {
      throw .damagedMembers("its administration key is another one than its head names")
    }
  }

  /// Seals the seed under a root key.
  package func sealed(under root: borrowing SecretBytes) throws(KeychainError) -> Data {
    try Sealing.seal(seed.bytes, with: try Derivation.key(root, "pk3/admin"))
  }

  package func sign(_ message: [UInt8], label: String) throws(KeychainError) -> Data {
    try Signing.sign(message, label: label, seed: seed.bytes)
  }
}

/// A change of the administration key, signed by the recovery code that opened the vault: an
/// administrator who left knows the old key.
package struct Succession: Hashable, Sendable {
  /// The epoch of the new key.
  package let epoch: UInt64
  package let oldKey: Data
  package let newKey: Data

  /// The hash of the last list under the old key.
  package let lastList: Data

  /// The signing key of the recovery code that signed.
  package let recoveryKey: Data

  private let id: VaultID
  private var signature = Data()

  private static let label = "pk3/succession"
  private static let bodyCount = VaultID.count + 8 + 4 * 32

  /// Makes a succession, which the recovery code signs.
  package init(
    id: VaultID, epoch: UInt64, oldKey: Data, newKey: Data, lastList: Data, recovery: CommitSigner
  ) throws(KeychainError) {
    self.id = id
    self.epoch = epoch
    self.oldKey = oldKey
    self.newKey = newKey
    self.lastList = lastList
    recoveryKey = try recovery.publicKey()
    signature = try recovery.sign(Data(copying: body), label: Self.label)
  }

  /// Reads a succession of a vault; fails if it breaks the format.
  package init(_ bytes: Data, of id: VaultID) throws(KeychainError) {
    let bytes = bytes.bytes
    var reader = FieldReader()
    do throws(FieldReader.Malformed) {
      self.id = VaultID(bytes: try reader.data(bytes, count: VaultID.count))
      epoch = try reader.integer(bytes)
      oldKey = try reader.data(bytes, count: 32)
      newKey = try reader.data(bytes, count: 32)
      lastList = try reader.data(bytes, count: 32)
      recoveryKey = try reader.data(bytes, count: 32)
      signature = try reader.data(bytes, count: Signature.count)
      try reader.end(bytes)
      guard self.id == id, 1...HeadIdentity.greatestEpoch ~= epoch else {
        throw FieldReader.Malformed()
      }
    } catch { throw .damagedMembers("a succession of its administration key breaks the format") }
  }

  private var body: [UInt8] {
    FieldWriter.fields {
      $0.append(id.bytes)
      $0.integer(epoch)
      for field in [oldKey, newKey, lastList, recoveryKey] { $0.append(field) }
    }
  }

  /// The record, as the head has it.
  package var encoded: Data { Data(copying: body) + signature }

  /// Whether it is signed by the recovery code with this signing key, which is trusted; never if none is.
  package func isFollowed(trustingRecovery recovery: Data?) -> Bool {
    recovery == recoveryKey
      && Signing.isRight(signature, of: body, label: Self.label, publicKey: recoveryKey)
  }

  /// Returns the hash of all records, which the list of members names.
  package static func hash(of records: [Data]) throws(KeychainError) -> Data {
    try Derivation.hash(
      "pk3/successions", FieldWriter.fields { for record in records { $0.byteString(record) } })
  }

  /// Whether successions that are followed lead from a trusted administration key to the head's.
  package static func lead(
    from isTrusted: (Data) -> Bool, in records: [Data], to head: HeadIdentity,
    trustingRecovery recovery: Data?
  ) throws(KeychainError) -> Bool {
    var reached: Data?
    for record in records {
      let succession = try Succession(record, of: head.id)
      guard succession.oldKey == reached || isTrusted(succession.oldKey),
        succession.isFollowed(trustingRecovery: recovery)
      else { continue }
      if succession.newKey == head.administration { return true }
      reached = succession.newKey
    }
    return false
  }

  /// Fails unless the records are of the head's vault, in the order of rising epochs.
  static func requireOrder(_ records: [Data], _ head: HeadIdentity) throws(KeychainError) {
    var last: UInt64 = 0
    for record in records {
      let succession = try Succession(record, of: head.id)
      guard succession.epoch > last, succession.epoch <= head.epoch else {
        throw .damagedMembers("its successions do not follow each other")
      }
      last = succession.epoch
    }
  }
}
