package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// What tells a state of a vault from all others.
package struct SeenState: Hashable, Sendable {
  package let counter: UInt64

  /// The hash of the box of the state row: each state has a box of its own, whose nonce is random.
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
  /// The checks of tier T0 that are valid: two while the vault gets a new root key.
  package var checks: [Data]
  package var state: SeenState

  /// How far a counter goes up at most between two looks: more changes than a disk can write in years.
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

  /// The name of the record of a vault, by its real path.
  package static func name(of vaultPath: String) throws(KeychainError) -> String {
    try Derivation.hash(Data(vaultPath.utf8), count: 16).hexadecimal
  }

  package init(checks: [Data], state: SeenState) {
    self.checks = checks
    self.state = state
  }

  /// A record as it was read, or `nil` if it is damaged.
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

  /// How a state of the vault stands to the one that was seen.
  package enum Relation {
    case sameOrNewer, older

    /// As many changes, but others.
    case forked

    /// Newer by more changes than there can have been.
    case tooFarAhead
  }

  package func relation(of found: SeenState) -> Relation {
    if found.counter < state.counter { return .older }
    if isTooFar(from: found) { return .tooFarAhead }
    return found.counter > state.counter || found == state ? .sameOrNewer : .forked
  }

  /// Whether the two counters cannot both have been counted.
  package func isTooFar(from found: SeenState) -> Bool {
    max(found.counter, state.counter) - min(found.counter, state.counter) > Self.largestStep
  }
}
