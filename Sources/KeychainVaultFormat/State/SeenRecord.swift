package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// Identifies a state of a vault.
package struct SeenState: Hashable, Sendable {
  package let epoch: UInt64

  /// The serial number of the list of members.
  package let serial: UInt64

  /// The hash of the list of members.
  package let listHash: Data
  package let counter: UInt64

  /// The digest of the state and of all before it.
  package let digest: Data

  package init(
    epoch: UInt64, serial: UInt64, listHash: Data, counter: UInt64, digest: Data
  ) {
    self.epoch = epoch
    self.serial = serial
    self.listHash = listHash
    self.counter = counter
    self.digest = digest
  }

  package init(_ chained: ChainedState) {
    self.init(
      epoch: chained.state.epoch, serial: chained.state.serial, listHash: chained.state.listHash,
      counter: chained.state.counter, digest: chained.digest)
  }
}

/// The newest state of a vault that this user has seen, and who administered it.
package struct SeenRecord: Hashable, Sendable {
  package let id: VaultID

  /// The administration key.
  package var administration: Data

  /// The administration key that is valid as well, while the key changes.
  package var nextAdministration: Data?

  /// The signing key of the recovery code that is trusted when a succession is followed.
  package var recoveryKey: Data?
  package var state: SeenState

  package static let count = 240

  /// More new root keys than a vault gets between two sights.
  package static let largestEpochStep: UInt64 = 1 << 16
  private static let none = Data(repeating: 0, count: 32)
  private static let reserved = Data(repeating: 0, count: 24)

  package init(
    id: VaultID, administration: Data, nextAdministration: Data? = nil, recoveryKey: Data?,
    state: SeenState
  ) {
    self.id = id
    self.administration = administration
    self.nextAdministration = nextAdministration
    self.recoveryKey = recoveryKey
    self.state = state
  }

  /// The record of a vault whose list of members was checked.
  package init(_ list: MemberList, _ state: SeenState) {
    self.init(
      id: list.id, administration: list.administration, recoveryKey: list.recoveryKey,
      state: state)
  }

  package var encoded: Data {
    var bytes = id.bytes + administration
    bytes += nextAdministration ?? Self.none
    bytes += recoveryKey ?? Self.none
    bytes += FieldWriter.fields {
      $0.integer(state.epoch)
      $0.integer(state.serial)
    }
    bytes += state.listHash
    bytes += FieldWriter.fields { $0.integer(state.counter) }
    bytes += state.digest + Self.reserved
    return bytes + ((try? Derivation.hash(bytes, count: 16)) ?? Data())
  }

  /// Returns the name of a vault's record, from the vault's real path.
  package static func name(of vaultPath: String) throws(KeychainError) -> String {
    try Derivation.hash(Data(copying: Array(vaultPath.utf8)), count: 16).hexadecimal
  }

  /// Reads a record; `nil` if it is damaged.
  package init?(encoded: Data) {
    let encoded = Data(encoded)
    guard encoded.count == Self.count,
      let sum = try? Derivation.hash(encoded.prefix(224), count: 16), sum == encoded.suffix(16),
      encoded[200..<224] == Self.reserved
    else { return nil }
    let bytes = encoded.bytes
    func key(_ start: Int) -> Data { Data(encoded[start..<start + 32]) }
    let counter = bytes.littleEndian(at: 160, as: UInt64.self)
    guard counter <= StateCounter.maximum else { return nil }
    self.init(
      id: VaultID(bytes: Data(encoded[0..<16])), administration: key(16),
      nextAdministration: key(48) == Self.none ? nil : key(48),
      recoveryKey: key(80) == Self.none ? nil : key(80),
      state: SeenState(
        epoch: bytes.littleEndian(at: 112, as: UInt64.self),
        serial: bytes.littleEndian(at: 120, as: UInt64.self), listHash: key(128),
        counter: counter, digest: key(168)))
  }

  /// Whether an administration key is the one that was seen, or the one that it changes to.
  package func trusts(_ administration: Data) -> Bool {
    administration == self.administration || administration == nextAdministration
  }

  /// How a state of the same vault relates to the recorded one.
  package enum Relation {
    case same

    /// Newer; whether it follows from the recorded one is for the chain to show.
    case newer

    /// Its list of members is older, or of an older epoch.
    case olderList
    case older

    /// The same number of lists or changes, but different ones.
    case forked

    /// Newer by more changes than are possible.
    case tooFarAhead
  }

  package func relation(of found: SeenState) -> Relation {
    let (seen, new) = ((state.epoch, state.serial), (found.epoch, found.serial))
    if new.0 < seen.0 || new.1 < seen.1 { return .olderList }
    if new.0 > seen.0, new.1 == seen.1 { return .olderList }
    if new.0 - seen.0 > Self.largestEpochStep || new.1 - seen.1 > StateCounter.largestStep {
      return .tooFarAhead
    }
    if new == seen, found.listHash != state.listHash { return .forked }
    if found.counter < state.counter { return .older }
    if isTooFar(from: found) { return .tooFarAhead }
    if found.counter > state.counter { return .newer }
    return found == state ? .same : .forked
  }

  /// Whether the counters differ by more than is possible.
  package func isTooFar(from found: SeenState) -> Bool {
    max(found.counter, state.counter) - min(found.counter, state.counter)
      > StateCounter.largestStep
  }
}
