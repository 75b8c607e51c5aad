package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// Identifies a state of a vault.
package struct SeenState: Hashable, Sendable {
  package let counter: UInt64

  /// The hash of the state row's box, which differs in each state because its nonce is random.
  package let boxHash: Data

  package static let hashCount = 32

  package init(counter: UInt64, boxHash: Data) {
    self.counter = counter
    self.boxHash = boxHash
  }

  package init(counter: UInt64, box: Data) throws(KeychainError) {
    self.counter = counter
    boxHash = try Derivation.hash(box, count: Self.hashCount)
  }
}

/// The newest state of a vault that this user has seen.
package struct SeenRecord: Hashable, Sendable {
  /// The valid checks of tier T0: two while the vault gets a new root key.
  package var checks: [Data]
  package var state: SeenState

  /// The maximum increase of a counter between two records: more changes than a disk can write in
  /// years.
  package static let largestStep: UInt64 = 1 << 32

  package static let count = 1 + 2 * 16 + 8 + SeenState.hashCount + 16

  package var encoded: Data {
    var bytes = Data([UInt8(checks.count)])
    bytes += checks[0]
    bytes += checks.count > 1 ? checks[1] : Data(repeating: 0, count: 16)
    bytes += FieldWriter.fields { $0.integer(state.counter) }
    bytes += state.boxHash
    return bytes + ((try? Derivation.hash(bytes, count: 16)) ?? Data())
  }

  /// Returns the name of a vault's record, from the vault's real path.
  package static func name(of vaultPath: String) throws(KeychainError) -> String {
    try Derivation.hash(Data(vaultPath.utf8), count: 16).hexadecimal
  }

  package init(checks: [Data], state: SeenState) {
    self.checks = checks
    self.state = state
  }

  /// Reads a record; `nil` if it is damaged.
  package init?(encoded: Data) {
    guard encoded.count == Self.count, 1...2 ~= encoded[0],
      encoded[0] == 2 || encoded[17..<33].allSatisfy({ $0 == 0 }),
      let sum = try? Derivation.hash(encoded.prefix(73), count: 16), sum == encoded.suffix(16)
    else { return nil }
    checks = [Data(encoded[1..<17])]
    if encoded[0] == 2 { checks.append(Data(encoded[17..<33])) }
    let counter = encoded.bytes.littleEndian(at: 33, as: UInt64.self)
    guard counter <= StateRow.maximumCounter else { return nil }
    state = SeenState(counter: counter, boxHash: Data(encoded[41..<73]))
  }

  /// How a state of the vault relates to the recorded one.
  package enum Relation {
    case sameOrNewer, older

    /// The same number of changes, but different ones.
    case forked

    /// Newer by more changes than are possible.
    case tooFarAhead
  }

  package func relation(of found: SeenState) -> Relation {
    if found.counter < state.counter { return .older }
    if isTooFar(from: found) { return .tooFarAhead }
    return found.counter > state.counter || found == state ? .sameOrNewer : .forked
  }

  /// Whether the counters differ by more than is possible.
  package func isTooFar(from found: SeenState) -> Bool {
    max(found.counter, state.counter) - min(found.counter, state.counter) > Self.largestStep
  }
}
