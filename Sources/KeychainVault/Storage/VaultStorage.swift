internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// Keeps the rows of a vault.
///
/// It knows no keys: what it stores is sealed before and opened after.
protocol VaultStorage: Sendable {
  /// Runs `body` on one consistent state of the rows.
  func read<Result>(
    _ deadline: Deadline, _ body: (any VaultRows) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result

  /// Runs `body` as one transaction: what it writes is durable when this returns, and nothing is
  /// written if it throws, or if `isKept` says so of its result. No other writer comes in between.
  func write<Result>(
    _ deadline: Deadline, keepingIf isKept: (Result) -> Bool,
    _ body: (any WritableVaultRows) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result

  /// Makes the file hold nothing but the rows: no remains of deleted ones.
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
/// Every function throws ``KeychainError/Code/damaged`` for what no writer would have written.
protocol VaultRows {
  /// Whether the tables are there; a file that was made and never filled has none.
  func isInitialized() throws(KeychainError) -> Bool

  func vaultRow() throws(KeychainError) -> VaultRow
  func stateBox() throws(KeychainError) -> Data
  func slots() throws(KeychainError) -> SlotList

  func item(_ id: Data) throws(KeychainError) -> ItemRow?

  /// Whether the token tree has this pair.
  func hasToken(_ token: Data, item: Data) throws(KeychainError) -> Bool

  /// The tokens of an item, through the tree ordered by item.
  func tokens(of item: Data) throws(KeychainError) -> [Data]

  /// The items that have a token, through the tree ordered by token.
  func items(withToken token: Data) throws(KeychainError) -> [Data]

  /// The items that have all of these tokens, through the tree ordered by item: it looks at every
  /// entry.
  func items(withAll tokens: Set<Data>) throws(KeychainError) -> Set<Data>

  /// Every item without its secret, in the order of the ids; `nil` stands for a row that no writer
  /// would have written.
  func forEachItem(
    _ body: (_ id: Data, _ item: ItemRow?) throws(KeychainError) -> Void
  ) throws(KeychainError)

  /// The box of an access group's name.
  func accessGroup(
    _ token: Data, _ accessibility: Accessibility
  ) throws(KeychainError) -> AccessGroupRow?

  func accessGroups() throws(KeychainError) -> [AccessGroupRow]

  func itemCounts() throws(KeychainError) -> [Accessibility: Int]

  /// The number of items, damaged ones included.
  func itemCount() throws(KeychainError) -> Int
  func tokenCount() throws(KeychainError) -> Int

  /// What the storage itself finds wrong with its file, in words.
  func integrityProblems() throws(KeychainError) -> [String]

  /// Copies everything into an empty file, as it is in this transaction.
  func copyAll(to path: String) throws(KeychainError)
}

/// What can be written within a transaction.
protocol WritableVaultRows: VaultRows {
  func initialize() throws(KeychainError)
  func put(_ row: VaultRow) throws(KeychainError)
  func putState(_ box: Data) throws(KeychainError)
  func put(_ slot: SlotRow) throws(KeychainError)
  func removeSlot(_ number: UInt32) throws(KeychainError)

  /// Puts an item in the place of the one that has these tokens; none are those of no item.
  func put(_ item: ItemRow, tokens: [Data], replacing old: [Data]) throws(KeychainError)
  func removeItem(_ id: Data) throws(KeychainError)
  func put(_ group: AccessGroupRow) throws(KeychainError)
  func removeAccessGroups() throws(KeychainError)

  /// From now on nothing is left in the file of rows that are removed, until it is compacted.
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
