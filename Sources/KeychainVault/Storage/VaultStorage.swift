internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// Stores the rows of a vault.
///
/// It has no keys: rows are sealed before they are stored and opened after they are read.
protocol VaultStorage: Sendable {
  /// Runs `body` on one consistent state of the rows.
  func read<Result>(
    _ deadline: Deadline, _ body: (any VaultRows) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result

  /// Runs `body` as one transaction. What it writes is durable when this returns. Nothing is
  /// written if it throws or `isKept` returns `false` for its result. No other writer comes in
  /// between.
  func write<Result>(
    _ deadline: Deadline, keepingIf isKept: (Result) -> Bool,
    _ body: (any WritableVaultRows) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result

  /// Rewrites the file with its rows only, without remains of deleted ones.
  func compact(_ deadline: Deadline) throws(KeychainError)
}

extension VaultStorage {
  /// Runs `body` as one transaction, whatever it returns.
  func write<Result>(
    _ deadline: Deadline, _ body: (any WritableVaultRows) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try write(deadline, keepingIf: { _ in true }, body)
  }
}

/// What can be read of a vault within a transaction.
///
/// Every function throws ``KeychainError/Code/damaged`` for rows that no writer would have written.
protocol VaultRows {
  /// Whether the tables exist. A file that was created and never filled has none.
  func isInitialized() throws(KeychainError) -> Bool

  func vaultRow() throws(KeychainError) -> VaultRow
  func stateBox() throws(KeychainError) -> Data
  func slots() throws(KeychainError) -> SlotList

  func item(_ id: Data) throws(KeychainError) -> ItemRow?

  /// Whether the token tree has this pair.
  func hasToken(_ token: Data, item: Data) throws(KeychainError) -> Bool

  /// Returns the tokens of an item, from the tree ordered by item.
  func tokens(of item: Data) throws(KeychainError) -> [Data]

  /// Returns the items that have a token, from the tree ordered by token.
  func items(withToken token: Data) throws(KeychainError) -> [Data]

  /// Returns the items that have all of these tokens, from the tree ordered by item. It reads every
  /// entry.
  func items(withAll tokens: Set<Data>) throws(KeychainError) -> Set<Data>

  /// Calls `body` with every item without its secret, in the order of the ids; `nil` stands for a
  /// row that no writer would have written.
  func forEachItem(
    _ body: (_ id: Data, _ item: ItemRow?) throws(KeychainError) -> Void
  ) throws(KeychainError)

  /// Returns the box of an access group's name.
  func accessGroup(
    _ token: Data, _ accessibility: Accessibility
  ) throws(KeychainError) -> AccessGroupRow?

  func accessGroups() throws(KeychainError) -> [AccessGroupRow]

  func itemCounts() throws(KeychainError) -> [Accessibility: Int]

  /// Returns the number of items, including damaged ones.
  func itemCount() throws(KeychainError) -> Int
  func tokenCount() throws(KeychainError) -> Int

  /// Returns the problems that the storage finds in its file, in words.
  func integrityProblems() throws(KeychainError) -> [String]

  /// Copies everything, as it is in this transaction, into an empty file.
  func copyAll(to path: String) throws(KeychainError)
}

/// What can be written within a transaction.
protocol WritableVaultRows: VaultRows {
  func initialize() throws(KeychainError)
  func put(_ row: VaultRow) throws(KeychainError)
  func putState(_ box: Data) throws(KeychainError)
  func put(_ slot: SlotRow) throws(KeychainError)
  func removeSlot(_ number: UInt32) throws(KeychainError)

  /// Replaces the item that has these tokens. Pass an empty array if no item is replaced.
  func put(_ item: ItemRow, tokens: [Data], replacing old: [Data]) throws(KeychainError)
  func removeItem(_ id: Data) throws(KeychainError)
  func put(_ group: AccessGroupRow) throws(KeychainError)
  func removeAccessGroups() throws(KeychainError)

  /// Makes later removals leave nothing in the file, until it is compacted.
  func overwriteDeleted() throws(KeychainError)
}

/// The slots of a vault.
struct SlotList: Sendable {
  /// The slots whose sums hold.
  var intact: [SlotRow] = []

  /// The numbers of the slots that are damaged.
  var damaged: [UInt32] = []

  /// Fails if a slot is damaged: it may be the one that was meant.
  func requireUndamaged() throws(KeychainError) {
    if let number = damaged.first { throw .damagedSlot(number) }
  }
}
