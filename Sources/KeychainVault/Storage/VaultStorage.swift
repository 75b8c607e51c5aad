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
  ///
  /// A storage may run `body` again, on newer rows, if another writer came first. So `body` must
  /// not change anything but the rows.
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
protocol VaultRows: TreeNodes {
  /// Whether the tables exist. A file that was created and never filled has none.
  func isInitialized() throws(KeychainError) -> Bool

  func headRow() throws(KeychainError) -> HeadRow
  func membersRow() throws(KeychainError) -> MembersRow

  /// Returns the successions of the administration key, in the order of their epochs.
  func successions() throws(KeychainError) -> [SuccessionRow]
  func slots() throws(KeychainError) -> SlotList
  func stateBox() throws(KeychainError) -> Data

  /// Returns the rows that every transaction needs, together.
  func topRows() throws(KeychainError) -> TopRows

  /// Returns the entries of the chain at these places; `nil` for all of them.
  func chainBoxes(_ places: ClosedRange<Int64>?) throws(KeychainError) -> [Int64: Data]

  func item(_ id: Data) throws(KeychainError) -> ItemRow?

  /// Returns an item, and those of these nodes of the tree of items that exist, in one query.
  func item(
    _ id: Data, nodes prefixes: [UInt64]
  ) throws(KeychainError) -> (item: ItemRow?, nodes: NodeContents)

  /// Returns an item without the box of its secret.
  func itemWithoutSecret(_ id: Data) throws(KeychainError) -> ItemRow?

  /// Returns how many of an item's tokens the table of tokens has.
  func tokenCount(of item: ItemRow) throws(KeychainError) -> Int

  /// Returns the items that have a token, by the table of tokens.
  func items(withToken token: Data) throws(KeychainError) -> [Data]

  /// Calls `body` with every item without its secret, in the order of the ids; `nil` stands for a
  /// row that no writer would have written.
  func forEachItem(
    _ body: (_ id: Data, _ item: ItemRow?) throws(KeychainError) -> Void
  ) throws(KeychainError)

  /// Calls `body` with every row of the table of tokens, in the order of the tokens.
  func forEachToken(
    _ body: (_ token: Data, _ item: Data) throws(KeychainError) -> Void
  ) throws(KeychainError)

  /// Calls `body` with every node of a tree, in the order of the prefixes.
  func forEachNode(
    of tree: Tree, _ body: (_ prefix: UInt64, _ content: Data) throws(KeychainError) -> Void
  ) throws(KeychainError)

  /// Returns the box of an access group's name.
  func accessGroup(
    _ token: Data, _ accessibility: Accessibility
  ) throws(KeychainError) -> AccessGroupRow?

  func accessGroups() throws(KeychainError) -> [AccessGroupRow]

  func itemCounts() throws(KeychainError) -> [Accessibility: Int]

  /// Returns the number of items, including damaged ones.
  func itemCount() throws(KeychainError) -> Int

  /// Returns the problems that the storage finds in its file, in words.
  func integrityProblems() throws(KeychainError) -> [String]

  /// Copies everything, as it is in this transaction, into an empty file.
  func copyAll(to path: String) throws(KeychainError)
}

/// What can be written within a transaction.
protocol WritableVaultRows: VaultRows, WritableTreeNodes {
  func initialize() throws(KeychainError)
  func put(_ row: HeadRow) throws(KeychainError)
  func put(_ row: MembersRow) throws(KeychainError)
  func put(_ row: SuccessionRow) throws(KeychainError)
  func putState(_ box: Data) throws(KeychainError)
  func putChain(_ box: Data, at place: Int64) throws(KeychainError)
  func removeChain() throws(KeychainError)
  func put(_ slot: SlotRow) throws(KeychainError)
  func removeSlot(_ number: UInt32) throws(KeychainError)

  /// Replaces the item that has these tokens. Pass an empty set if no item is replaced.
  func put(_ item: ItemRow, replacing old: Set<Data>) throws(KeychainError)

  /// Removes an item, and these tokens of it.
  func removeItem(_ id: Data, tokens: Set<Data>) throws(KeychainError)
  func put(_ group: AccessGroupRow) throws(KeychainError)

  /// Removes all nodes of the trees.
  func removeNodes() throws(KeychainError)

  /// Removes all rows of the table of tokens.
  func removeTokens() throws(KeychainError)

  /// Adds the tokens of an item to the table of tokens, which has none of them.
  func putTokens(of item: ItemRow) throws(KeychainError)

  /// Removes everything that is sealed under T0 or named by it, except the items: tokens, groups,
  /// nodes and the chain.
  func removeIndexes() throws(KeychainError)

  /// Makes later removals leave nothing in the file, until it is compacted.
  func overwriteDeleted() throws(KeychainError)
}

/// The rows that every transaction needs.
struct TopRows: Sendable {
  let head: HeadRow
  let members: MembersRow
  let stateBox: Data
}

/// The slots of a vault.
struct SlotList: Sendable {
  /// The slots whose sums hold.
  var intact: [SlotRow] = []

  /// The numbers of the slots that are damaged.
  var damaged: [UInt32] = []

  /// The numbers of the slots of a kind or grant that this release does not know.
  var unknown: [UInt32] = []

  /// Fails if a slot is damaged: it may be the one that was meant.
  func requireUndamaged() throws(KeychainError) {
    if let number = damaged.first { throw .damagedSlot(number) }
  }
}
