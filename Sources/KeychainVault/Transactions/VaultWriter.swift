internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// Changes rows within one transaction, and keeps the state row consistent with them.
struct VaultWriter: ~Copyable {
  let rows: any WritableVaultRows
  let sealing: ItemSealing
  private(set) var state: StateRow
  private let terms: StateTerms
  private let oldSum: Data

  init(
    rows: any WritableVaultRows, sealing: ItemSealing, state: StateRow
  ) throws(KeychainError) {
    let counter = try StateRow.counter(after: state.counter)
    let terms = try StateTerms(open: sealing.keys.open.bytes)
    self.rows = rows
    self.sealing = sealing
    self.state = state
    self.state.counter = counter
    oldSum = state.sum
    self.terms = terms
  }

  /// The counter of this transaction, which becomes the version of an item written in it.
  var counter: UInt64 { state.counter }

  private var hasChanges: Bool { state.sum != oldSum }

  /// Returns the item of an id with its tokens, or `nil` if both trees lack it.
  func item(_ id: Data, name: String) throws(KeychainError) -> (row: ItemRow, tokens: [Data])? {
    guard let row = try rows.findItem(id, name: name) else { return nil }
    return (row, try ownedTokens(of: id, name: name))
  }

  /// Returns the tokens of an existing item.
  func ownedTokens(of id: Data, name: String) throws(KeychainError) -> [Data] {
    let tokens = try rows.tokens(of: id)
    guard tokens.contains(ItemSealing.ownToken(of: id)) else { throw .damagedItem(name) }
    return tokens
  }

  /// Replaces the item `old`, or adds a new one.
  mutating func put(
    _ item: ItemRow, tokens: [Data], replacing old: (row: ItemRow, tokens: [Data])?
  ) throws(KeychainError) {
    if let old {
      state.toggle(try terms.term(of: old.row, tokens: old.tokens))
    } else {
      state.itemCount += 1
    }
    state.toggle(try terms.term(of: item, tokens: tokens))
    try rows.put(item, tokens: tokens, replacing: old?.tokens ?? [])
  }

  mutating func remove(_ old: (row: ItemRow, tokens: [Data])) throws(KeychainError) {
    guard state.itemCount > 0 else {
      throw KeychainError(.damaged, "the vault counts fewer items than it has")
    }
    state.itemCount -= 1
    state.toggle(try terms.term(of: old.row, tokens: old.tokens))
    try rows.removeItem(old.row.id)
  }

  /// Stores the name of an access group, unless it is stored already or empty.
  mutating func noteGroup(
    _ name: String, _ accessibility: Accessibility
  ) throws(KeychainError) {
    guard !name.isEmpty,
      try rows.accessGroup(sealing.groupToken(name), accessibility) == nil
    else { return }
    let row = try sealing.sealGroup(name, accessibility)
    state.toggle(try terms.term(of: row))
    try rows.put(row)
  }

  mutating func put(_ slot: SlotRow) throws(KeychainError) {
    state.slotCount += 1
    state.toggle(try terms.term(of: slot))
    try rows.put(slot)
  }

  mutating func remove(_ slot: SlotRow) throws(KeychainError) {
    guard state.slotCount > 0 else {
      throw KeychainError(.damaged, "the vault counts fewer slots than it has")
    }
    state.slotCount -= 1
    state.toggle(try terms.term(of: slot))
    try rows.removeSlot(slot.number)
  }

  mutating func put(_ row: VaultRow) throws(KeychainError) {
    state.toggle(try terms.term(of: row))
    try rows.put(row)
  }

  /// Writes the state row if something was changed.
  ///
  /// This must be the last step of a transaction.
  ///
  /// - Returns: The state of the vault afterwards. A transaction that changed no row does not
  ///   count.
  @discardableResult
  func finish() throws(KeychainError) -> SeenState {
    guard hasChanges else { return try SeenState(counter: counter - 1, box: rows.stateBox()) }
    let box = try state.sealed(under: sealing.keys.open.bytes)
    try rows.putState(box)
    return try SeenState(counter: counter, box: box)
  }
}

extension VaultRows {
  /// Looks an item up in both trees.
  ///
  /// One changed byte in a tree can make SQLite report a missing row without an error, so an item
  /// counts as absent only if both trees lack it.
  func findItem(_ id: Data, name: String) throws(KeychainError) -> ItemRow? {
    do throws(KeychainError) {
      if let row = try item(id) { return row }
    } catch {
      // The caller knows the item by this name.
      throw error.code == .damaged && error.underlying == nil ? .damagedItem(name) : error
    }
    guard try !hasToken(ItemSealing.ownToken(of: id), item: id), try tokens(of: id).isEmpty else {
      throw .damagedItem(name)
    }
    return nil
  }
}
