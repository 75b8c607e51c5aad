internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// Changes rows within one transaction, and keeps the trees and the state consistent with them.
struct VaultWriter: ~Copyable {
  let rows: any WritableVaultRows
  let sealing: ItemSealing

  /// The list of members as it is now.
  private(set) var list: MemberList

  /// Whether there is something that the state must count.
  private var hasChanges: Bool
  private let head: HeadRow

  /// The state that a transaction without changes leaves; `nil` if this one makes a state in any
  /// case.
  private let before: ProvenVault?

  /// The counter of the state that this transaction makes.
  private let counter: UInt64

  /// The digest of the state before.
  private let previous: Data

  /// The lowest counter of which the chain has an entry.
  private let first: UInt64
  let items: HashTree
  private let tokens: HashTree
  private let groups: HashTree
  private let terms: TokenTerms

  typealias Trees = (items: TreeRoot, tokens: TreeRoot, groups: TreeRoot)

  init(
    rows: any WritableVaultRows, sealing: ItemSealing, proven: ProvenVault
  ) throws(KeychainError) {
    try self.init(
      rows, sealing, proven.head, proven.members, before: proven,
      counter: StateCounter.next(after: proven.state.counter), previous: proven.chained.digest,
      first: proven.state.first,
      trees: (proven.state.items, proven.state.tokens, proven.state.groups))
  }

  init(
    _ rows: any WritableVaultRows, _ sealing: ItemSealing, _ head: HeadRow, _ list: MemberList,
    before: ProvenVault?, counter: UInt64, previous: Data,
    first: UInt64, trees: Trees
  ) throws(KeychainError) {
    let terms = try TokenTerms(sealing.keys)
    self.rows = rows
    self.sealing = sealing
    self.head = head
    self.list = list
    self.before = before
    hasChanges = before == nil
    self.counter = counter
    self.previous = previous
    self.first = VaultState.firstEntry(for: counter, after: first)
    self.terms = terms
    items = HashTree(.items, trees.items, in: rows)
    tokens = HashTree(.tokens, trees.tokens, in: rows)
    groups = HashTree(.groups, trees.groups, in: rows)
  }

  /// Returns an item as the tree proves it; `nil` if the tree proves that there is none.
  func item(_ id: Data, name: String) throws(KeychainError) -> ItemRow? {
    try rows.findItem(id, name: name, in: items)
  }

  /// Replaces the item `old`, or adds a new one.
  mutating func put(_ item: ItemRow, replacing old: ItemRow?) throws(KeychainError) {
    let (oldTokens, newTokens) = (Set(old?.allTokens ?? []), Set(item.allTokens))
    try changeTokens(of: item.id, from: oldTokens, to: newTokens)
    try items.set(item.rowHash(), for: item.id)
    try rows.put(item, replacing: oldTokens)
    try noteChange()
  }

  /// Removes an item that ``item(_:name:)`` returned.
  mutating func remove(_ old: ItemRow) throws(KeychainError) {
    let oldTokens = Set(old.allTokens)
    try changeTokens(of: old.id, from: oldTokens, to: [])
    try items.set(nil, for: old.id)
    try rows.removeItem(old.id, tokens: oldTokens)
    try noteChange()
  }

  private func changeTokens(
    of id: Data, from old: Set<Data>, to new: Set<Data>
  ) throws(KeychainError) {
    try tokens.fetch(old.symmetricDifference(new))
    for token in old.subtracting(new) {
      var entry = TokenEntry(try tokens.value(of: token))
      guard entry.remove(try terms.term(of: token, item: id)) else { throw .damagedTree(.tokens) }
      try tokens.set(entry.value, for: token)
    }
    for token in new.subtracting(old) {
      var entry = TokenEntry(try tokens.value(of: token))
      entry.add(try terms.term(of: token, item: id))
      try tokens.set(entry.value, for: token)
    }
  }

  /// Stores the name of an access group, unless it is stored already or empty.
  mutating func noteGroup(
    _ name: String, _ accessibility: Accessibility
  ) throws(KeychainError) {
    guard !name.isEmpty else { return }
    let old = try rows.accessGroup(sealing.groupToken(name), accessibility)
    let key = try sealing.groupToken(name) + Data([accessibility.rawValue])
    guard try groups.value(of: key) == old?.treeValue() else { throw .damagedTree(.groups) }
    guard old == nil else { return }
    let row = try sealing.sealGroup(name, accessibility)
    try groups.set(row.treeValue(), for: key)
    try rows.put(row)
    try noteChange()
  }

  /// Puts a new list of members and its row.
  ///
  /// The rows of the slots must be put and removed as it says.
  mutating func replaceMembers(_ new: MemberList, _ row: MembersRow) throws(KeychainError) {
    try rows.put(row)
    list = new
    hasChanges = true
  }

  /// Notes that a row was changed, and keeps the trees in memory small.
  private mutating func noteChange() throws(KeychainError) {
    hasChanges = true
    for tree in [items, tokens, groups] where tree.isFull { try tree.write(to: rows) }
  }

  /// Writes the trees, the state and its entry in the chain if something was changed.
  ///
  /// This must be the last step of a transaction.
  ///
  /// - Returns: What the vault is after the transaction. A transaction that changed no row does not
  ///   count.
  @discardableResult
  func finish() throws(KeychainError) -> FinishedWrite {
    if !hasChanges, let before { return FinishedWrite(proven: before, stateBox: nil) }
    var state = try state()
    let signer = list.vaultKind == .shared ? sealing.keys.signer : nil
    if list.vaultKind == .shared {
      guard let signer else {
        throw KeychainError(.internalFailure, "a shared vault was changed without a signing key")
      }
      state.writer = signer.number
      state.time = Int64(Date().timeIntervalSince1970 * 1_000_000)
    }
    let chained = try ChainedState(state, after: previous, signer: signer)
    let box = try chained.sealed(with: sealing.keys.stateKey(.state).bytes)
    try rows.putState(box)
    try rows.putChain(
      ChainEntry(chained).sealed(with: sealing.keys.stateKey(.chain).bytes),
      at: Int64(ChainEntry.place(of: counter)))
    return FinishedWrite(
      proven: ProvenVault(head: head, members: list, chained: chained), stateBox: box)
  }

  /// Writes the trees.
  ///
  /// - Returns: The state, without a writer.
  private func state() throws(KeychainError) -> VaultState {
    VaultState(
      generation: head.generation, epoch: head.epoch, serial: list.serial,
      listHash: try list.hash(), counter: counter, first: first, items: try items.write(to: rows),
      tokens: try tokens.write(to: rows), groups: try groups.write(to: rows))
  }

  /// Returns the vault as the transaction has changed it so far, for searching in it.
  func provenNow() throws(KeychainError) -> ProvenVault {
    if !hasChanges, let before { return before }
    return ProvenVault(
      head: head, members: list, chained: try ChainedState(state(), after: previous, signer: nil))
  }
}
