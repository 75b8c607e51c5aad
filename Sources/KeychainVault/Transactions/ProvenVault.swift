internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import Synchronization

/// What one transaction has checked of a vault: that its head, list of members and state are the
/// vault's own, belong to each other, and are not older than what was seen here.
struct ProvenVault: Sendable {
  let head: HeadRow

  /// The signed list of members.
  let members: MemberList
  let chained: ChainedState

  var state: VaultState { chained.state }

  /// What the seen record will say.
  var record: SeenRecord { SeenRecord(members, SeenState(chained)) }

  /// Returns the tree of items for reading in the same transaction.
  func items(_ rows: any VaultRows) -> HashTree { HashTree(.items, state.items, in: rows) }

  /// Returns the tree of tokens for reading in the same transaction.
  func tokens(_ rows: any VaultRows) -> HashTree { HashTree(.tokens, state.tokens, in: rows) }
}

/// What a handle has checked before, so that it is checked once as long as the bytes stay the same.
final class KnownProofs: Sendable {
  private struct Members {
    let row: MembersRow
    let head: HeadRow
    let successions: [SuccessionRow]
    let list: MemberList
  }

  private struct State {
    let box: Data
    let head: HeadRow
    let list: MemberList
    let chained: ChainedState
  }

  private let head = Mutex<(row: HeadRow, tiers: Set<Tier>)?>(nil)
  private let members = Mutex<Members?>(nil)
  private let state = Mutex<State?>(nil)

  /// Checks the macs of the head.
  ///
  /// The keys are those of the head's checks.
  func requireMacs(
    of keys: TierKeys, _ row: HeadRow, path: String
  ) throws(KeychainError) {
    let tiers = Set(Tier.allCases.filter { keys.key($0) != nil })
    if head.withLock({ $0.map { $0.row == row && $0.tiers.isSuperset(of: tiers) } ?? false }) {
      return
    }
    try row.requireMacs(of: keys, path: path)
    head.withLock { known in
      let old = known?.row == row ? known?.tiers ?? [] : []
      known = (row, old.union(tiers))
    }
  }

  /// Opens the list of members, and checks its signature.
  func list(
    _ row: MembersRow, _ open: borrowing SecretBytes, head: HeadRow, successions: [SuccessionRow]
  ) throws(KeychainError) -> MemberList {
    if let known = members.withLock({ $0 }), known.row == row, known.head == head,
      known.successions == successions
    {
      return known.list
    }
    let list = try row.opened(open, head: head, successions: successions)
    members.withLock {
      $0 = Members(row: row, head: head, successions: successions, list: list)
    }
    return list
  }

  /// Opens the state, and checks that it belongs to the head and the list.
  func chained(
    _ box: Data, _ open: borrowing SecretBytes, head: HeadRow, list: MemberList
  ) throws(KeychainError) -> ChainedState {
    if let known = state.withLock({ $0 }), known.box == box, known.head == head,
      known.list == list
    {
      return known.chained
    }
    let chained = try ChainedState.open(box, under: open)
    try chained.requireMatch(head, list)
    state.withLock { $0 = State(box: box, head: head, list: list, chained: chained) }
    return chained
  }
}
