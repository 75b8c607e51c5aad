package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The row that says which vault it is, and which keys it has now.
///
/// It has a mac under each tier, so that whoever uses a tier knows that a holder of that tier's key
/// wrote it.
package struct HeadRow: Hashable, Sendable {
  package let id: VaultID
  package let epoch: UInt64
  package let checks: VaultChecks

  /// What a reader must know to read the vault.
  package let parameters: Data

  /// The public key that signs the list of members.
  package let administration: Data

  /// One mac for each tier, in their order.
  package let macs: [Data]

  /// Counts the whole sets of rows, in storages that switch from one to the next.
  package let generation: UInt64
  package let sum: Data

  /// The vault, epoch and administration key that every key must be bound to.
  package let binding: KeyBinding

  package static let greatestEpoch: UInt64 = 1 << 31
  package static let greatestGeneration: UInt64 = 1 << 32

  /// The parameters of format 2: no features.
  package static let noParameters = Data(FieldWriter.fields { $0.integer(UInt32(0)) })

  /// Makes the head of an epoch, which needs all keys.
  package init(
    id: VaultID, epoch: UInt64, keys: TierKeys, administration: Data, generation: UInt64
  ) throws(KeychainError) {
    let fields = Self.fields(id, epoch, keys.checks, Self.noParameters, administration)
    var macs: [Data] = []
    for tier in Tier.allCases {
      guard let key = keys.key(tier) else { throw Self.incompleteKeys }
      macs.append(try Derivation.tag(key.bytes, "pk2/head.mac", fields))
    }
    try self.init(
      id: id, epoch: epoch, checks: keys.checks, parameters: Self.noParameters,
      administration: administration, macs: macs, generation: generation)
  }

  private static let incompleteKeys = KeychainError(
    .internalFailure, "the head of a vault was made without all keys")

  /// Creates a row with its sum.
  package init(
    id: VaultID, epoch: UInt64, checks: VaultChecks, parameters: Data, administration: Data,
    macs: [Data], generation: UInt64
  ) throws(KeychainError) {
    self.id = id
    self.epoch = epoch
    self.checks = checks
    self.parameters = parameters
    self.administration = administration
    self.macs = macs
    self.generation = generation
    binding = try KeyBinding(id: id, epoch: epoch, administration: administration)
    let fields = Self.fields(id, epoch, checks, parameters, administration)
    sum = try Derivation.hash(
      Data(
        fields
          + FieldWriter.fields {
            for mac in macs { $0.byteString(mac) }
            $0.integer(generation)
          }),
      count: 16)
  }

  /// Reads a row: checks its lengths, ranges and sum, and that no feature is unknown.
  package init(
    id: Data, epoch: Int64, checks: [Data], parameters: Data, administration: Data, macs: [Data],
    generation: Int64, sum: Data, path: String
  ) throws(KeychainError) {
    guard id.count == VaultID.count, (checks + [sum]).allSatisfy({ $0.count == 16 }),
      (macs + [administration]).allSatisfy({ $0.count == 32 }), checks.count == 3, macs.count == 3,
      let epoch = UInt64(exactly: epoch), 1...Self.greatestEpoch ~= epoch,
      let generation = UInt64(exactly: generation), 1...Self.greatestGeneration ~= generation
    else { throw .damagedVault(path, "its head is damaged") }
    try self.init(
      id: VaultID(bytes: id), epoch: epoch,
      checks: VaultChecks(open: checks[0], first: checks[1], unlocked: checks[2]),
      parameters: parameters, administration: administration, macs: macs, generation: generation)
    guard self.sum == sum else { throw .damagedVault(path, "its head is damaged") }
    try Self.requireKnown(parameters, path)
  }

  private static func requireKnown(_ parameters: Data, _ path: String) throws(KeychainError) {
    guard parameters != noParameters else { return }
    var reader = FieldReader()
    guard let count = try? reader.integer(parameters.bytes, as: UInt32.self), count > 0 else {
      throw .damagedVault(path, "its head is damaged")
    }
    throw KeychainError(
      .unsupportedFormat, "the vault \(path) needs a feature that this release does not know",
      recovery: "use a newer release")
  }

  private static func fields(
    _ id: VaultID, _ epoch: UInt64, _ checks: VaultChecks, _ parameters: Data,
    _ administration: Data
  ) -> [UInt8] {
    FieldWriter.fields {
      $0.byteString(id.bytes)
      $0.integer(epoch)
      for tier in Tier.allCases { $0.byteString(checks[tier]) }
    } + parameters + FieldWriter.fields { $0.byteString(administration) }
  }

  /// The check of the vault, which people compare and identities are pinned to.
  package func check() throws(KeychainError) -> VaultCheck {
    try VaultCheck(id: id, administration: administration)
  }
}

// The one place that decides whether a key belongs to a vault.
extension HeadRow {
  /// Whether a key is the key of a tier of this vault, as far as its check shows.
  package func owns(_ key: borrowing SecretBytes, _ tier: Tier) throws(KeychainError) -> Bool {
    try VaultChecks.of(key) == checks[tier]
  }

  /// Whether keys are those of this vault now, as far as checks and binding show.
  ///
  /// If not, they are old.
  package func owns(_ keys: TierKeys) -> Bool {
    keys.binding == binding && keys.checks == checks
  }

  /// Fails if somebody without these keys wrote the head.
  package func requireMacs(of keys: TierKeys, path: String) throws(KeychainError) {
    let fields = Self.fields(id, epoch, checks, parameters, administration)
    for tier in Tier.allCases {
      guard let key = keys.key(tier) else { continue }
      let mac = try Derivation.tag(key.bytes, "pk2/head.mac", fields)
      guard ConstantTime.equal(mac.bytes, macs[Int(tier.rawValue)].bytes) else {
        throw .damagedVault(path, "its head was changed by somebody who cannot open all of it")
      }
    }
  }
}

extension KeychainError {
  /// Returns the error for a file that is damaged as a whole.
  package static func damagedVault(_ path: String, _ reason: String) -> Self {
    Self(.damaged, "the vault \(path) is damaged: \(reason)", recovery: .restoreBackup)
  }
}
