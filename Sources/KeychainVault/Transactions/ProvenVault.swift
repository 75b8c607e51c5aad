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

  /// Nodes of the trees that the handle has checked.
  var trees = KnownTrees()

  var state: VaultState { chained.state }

  /// What the seen record will say.
  var record: SeenRecord { SeenRecord(members, SeenState(chained)) }

  /// Returns the tree of items for reading in the same transaction.
  func items(_ rows: any VaultRows) -> HashTree {
    HashTree(.items, state.items, in: rows, known: trees.items)
  }

  /// Returns the tree of tokens for reading in the same transaction.
  func tokens(_ rows: any VaultRows) -> HashTree {
    HashTree(.tokens, state.tokens, in: rows, known: trees.tokens)
  }
}

/// The upper nodes of a vault's trees that a handle has checked.
struct KnownTrees: Sendable {
  let items = KnownNodes()
  let tokens = KnownNodes()
}

/// What a handle has checked before, so that it is checked once as long as the bytes stay the same.
final class KnownProofs: Sendable {
  /// The nodes that were checked by whoever read with what was proved.
  let trees = KnownTrees()

  private struct Members {
    let row: MembersRow
    let head: HeadRow
    let successions: [SuccessionRow]
    let list: MemberList
  }

  private struct CheckedHead {
    let row: HeadRow

    /// The tiers under which its mac was checked.
    var tiers: CheckedTiers
  }

  private struct Whole {
    let stateBox: Data
    let proven: ProvenVault

    /// The keys with which it was proved, but not the keys themselves: they may be forgotten.
    let keys: TierKeysIdentity?
  }

  private let head = Mutex<CheckedHead?>(nil)
  private let whole = Mutex<Whole?>(nil)
  private let members = Mutex<Members?>(nil)

  /// Returns what was proved together with a state, if the macs of these keys were checked, too.
  ///
  /// Every change of a head or a list of members makes a new state, and the state names both. So as
  /// long as the state stays the same, they are the vault's, whatever the file says of them now.
  func proven(with stateBox: Data, _ keys: TierKeys) -> ProvenVault? {
    guard let known = whole.withLock({ $0 }), known.stateBox == stateBox else { return nil }
    if known.keys === keys.identity { return known.proven }
    guard known.proven.head.owns(keys), hasMacs(of: keys, known.proven.head) else { return nil }
    return known.proven
  }

  /// Remembers what was proved together with a state.
  func note(_ proven: ProvenVault, with stateBox: Data, _ keys: TierKeys) {
    let isOfKeys = proven.head.owns(keys) && hasMacs(of: keys, proven.head)
    var proven = proven
    proven.trees = trees
    let known = Whole(
      stateBox: stateBox, proven: proven, keys: isOfKeys ? keys.identity : nil)
    whole.withLock { $0 = known }
  }

  private func hasMacs(of keys: TierKeys, _ row: HeadRow) -> Bool {
    let tiers = CheckedTiers(keys)
    return head.withLock { $0.map { $0.tiers.isSuperset(of: tiers) && $0.row == row } ?? false }
  }

  /// Checks the macs of the head.
  ///
  /// The keys are those of the head's checks.
  func requireMacs(
    of keys: TierKeys, _ row: HeadRow, path: String
  ) throws(KeychainError) {
    if hasMacs(of: keys, row) { return }
    try row.requireMacs(of: keys, path: path)
    head.withLock { known in
      var new = CheckedHead(row: row, tiers: CheckedTiers(keys))
      if let known, known.row == row { new.tiers.formUnion(known.tiers) }
      known = new
    }
  }

  /// Opens the list of members, and checks its signature, unless that was done when the vault was
  /// unlocked.
  func list(
    _ row: MembersRow, _ open: borrowing SecretBytes, head: HeadRow, successions: [SuccessionRow],
    unlocked: VaultHead?
  ) throws(KeychainError) -> MemberList {
    if let known = members.withLock({ $0 }), known.row == row, known.head == head,
      known.successions == successions
    {
      return known.list
    }
    let list: MemberList
    if let unlocked, unlocked.row == head, unlocked.members == row,
      unlocked.successions == successions, let checked = unlocked.checkedList
    {
      list = checked
    } else {
      list = try row.opened(open, head: head, successions: successions)
    }
    members.withLock {
      $0 = Members(row: row, head: head, successions: successions, list: list)
    }
    return list
  }

  /// Opens the state, and checks that it belongs to the head and the list.
  func chained(
    _ box: Data, _ open: borrowing SecretBytes, head: HeadRow, list: MemberList
  ) throws(KeychainError) -> ChainedState {
    if let known = whole.withLock({ $0 }), known.stateBox == box, known.proven.head == head,
      known.proven.members == list
    {
      return known.proven.chained
    }
    let chained = try ChainedState.open(box, under: open)
    try chained.requireMatch(head, list)
    return chained
  }
}

/// The tiers of keys as bits.
private struct CheckedTiers: OptionSet {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ keys: TierKeys) {
    rawValue = Tier.allCases.reduce(0) { $0 | (keys.key($1) == nil ? 0 : 1 << $1.rawValue) }
  }
}
