package import FoundationEssentials
package import KeychainSecrets

/// The newest commit of a vault that was seen and proven by a tier.
package struct SeenCommit: Hashable, Sendable {
  /// The serial of the list of members at that time.
  package let serial: UInt64
  package let n: UInt64
  package let digest: Data

  package init(serial: UInt64, n: UInt64, digest: Data) {
    self.serial = serial
    self.n = n
    self.digest = digest
  }

  fileprivate static let none = SeenCommit(serial: 0, n: 0, digest: Data(repeating: 0, count: 32))
}

/// What this user has seen of a vault and its administrators.
package struct SeenRecord: Hashable, Sendable {
  package let id: VaultID
  package var administration: Data

  /// The administration key that follows; `nil` except during the change.
  package var nextAdministration: Data?

  /// The signing key of the recovery code that may sign a succession.
  package var recoveryKey: Data?
  package var epoch: UInt64

  /// The serial of the list of members.
  package var serial: UInt64
  package var listHash: Data

  /// For each tier, the newest commit that it proved; `nil` if none did.
  package var proved: [SeenCommit?] = [nil, nil, nil]

  package static let count = contentCount + sumCount
  private static let contentCount = 304
  private static let sumCount = 16
  private static let noKey = Data(repeating: 0, count: 32)

  package var encoded: Data {
    let fields = FieldWriter.fields(capacity: Self.count) {
      $0.append(id.bytes)
      for key in [administration, nextAdministration, recoveryKey] { $0.append(key ?? Self.noKey) }
      $0.integer(epoch)
      $0.integer(serial)
      $0.append(listHash)
      for commit in proved {
        let commit = commit ?? .none
        $0.integer(commit.serial)
        $0.integer(commit.n)
        $0.append(commit.digest)
      }
    }
    let bytes = Data(copying: fields)
    return bytes + ((try? Derivation.hash(bytes, count: Self.sumCount)) ?? Data())
  }

  /// Returns the name of a vault's record, from the vault's real path.
  package static func name(of vaultPath: String) throws(KeychainError) -> String {
    // An array, because `Data` searches the conformances of other sequences.
    try Derivation.hash(Data(Array(vaultPath.utf8)), count: 16).hexadecimal
  }

  /// Whether lists and commits can have the numbers.
  private var isPossible: Bool {
    1...HeadIdentity.greatestEpoch ~= epoch && 1...MemberList.greatestSerial ~= serial
      && proved.compactMap(\.self).allSatisfy {
        $0.serial <= MemberList.greatestSerial && $0.n <= MemberList.greatestNumber
      }
  }

  /// Whether an administration key is the seen one, or the one that follows.
  package func trusts(_ administration: Data) -> Bool {
    administration == self.administration || administration == nextAdministration
  }
}

extension SeenRecord {
  package init(_ list: MemberList, hash: Data, proved: [SeenCommit?]) {
    self.init(
      id: list.id, administration: list.administration, recoveryKey: list.recoveryKey,
      epoch: list.epoch, serial: list.serial, listHash: hash, proved: proved)
  }

  /// Reads a record; `nil` if it is damaged.
  package init?(encoded: Data) {
    guard encoded.count == Self.count,
      let sum = try? Derivation.hash(encoded.prefix(Self.contentCount), count: Self.sumCount),
      sum == encoded.suffix(Self.sumCount),
      let record = try? Self(encoded.bytes.extracting(0..<Self.contentCount)), record.isPossible
    else { return nil }
    self = record
  }

  private init(_ bytes: RawSpan) throws(FieldReader.Malformed) {
    var reader = FieldReader()
    id = VaultID(bytes: try reader.data(bytes, count: VaultID.count))
    administration = try reader.data(bytes, count: 32)
    let (next, recovery) = (try reader.data(bytes, count: 32), try reader.data(bytes, count: 32))
    nextAdministration = next == Self.noKey ? nil : next
    recoveryKey = recovery == Self.noKey ? nil : recovery
    epoch = try reader.integer(bytes)
    serial = try reader.integer(bytes)
    listHash = try reader.data(bytes, count: 32)
    for tier in Tier.allCases {
      let commit = SeenCommit(
        serial: try reader.integer(bytes), n: try reader.integer(bytes),
        digest: try reader.data(bytes, count: 32))
      proved[tier] = commit == .none ? nil : commit
    }
    try reader.end(bytes)
  }
}
