import Foundation
import GRDB

// The same rows, by the same statements, as a vault writes: the item and its tokens, the nodes on
// their paths, the state and its entry in the chain.
extension BareStore {
  /// Replaces one item by another of the same length, durably.
  public func set(_ id: Data) throws {
    try queue.write { database in
      try putItem(id, database)
      try putPath(.items, id, 0, database)
      try putState(database)
    }
  }

  /// Adds an item with as many tokens as the others, of which it shares one, durably.
  public func add(_ id: Data) throws {
    try queue.write { database in
      try putItem(id, database)
      try putPath(.items, id, 1, database)
      var tokens = (0..<lengths.tokenCount).map { _ in Self.random(16) }
      if let shared = trees.sharedToken, !tokens.isEmpty { tokens[0] = shared }
      let marks = repeatElement("(?, ?)", count: tokens.count).joined(separator: ", ")
      try database.cachedStatement(sql: "INSERT INTO token (token, item) VALUES \(marks)")
        .execute(arguments: StatementArguments(tokens.flatMap { [$0, id] }))
      var written: Set<UInt64> = []
      for (index, token) in tokens.enumerated() {
        let isNew = index > 0 || trees.sharedToken == nil
        try putPath(.tokens, token, isNew ? 1 : 0, database, unless: &written)
      }
      try putState(database)
    }
  }

  /// Removes an item and its tokens, durably.
  public func remove(_ id: Data) throws {
    try queue.write { database in
      let tokens = try Data.fetchAll(
        database, sql: "SELECT token FROM token WHERE item = ?", arguments: [id])
      try database.cachedStatement(sql: "DELETE FROM item WHERE id = ?").execute(arguments: [id])
      try putPath(.items, id, -1, database)
      var written: Set<UInt64> = []
      for token in tokens {
        try database.cachedStatement(sql: "DELETE FROM token WHERE token = ? AND item = ?")
          .execute(arguments: [token, id])
        try putPath(.tokens, token, token == trees.sharedToken ? 0 : -1, database, unless: &written)
      }
      try putState(database)
    }
  }

  static let insertion = """
    INSERT OR REPLACE INTO item (id, class, device, version, tokens, hash, metadata, secret)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    """

  private func putItem(_ id: Data, _ database: Database) throws {
    try database.cachedStatement(sql: Self.insertion)
      .execute(arguments: [
        id, 0, nil, 1, Data(count: 16 * lengths.tokenCount), Self.random(32),
        Self.random(lengths.metadata), Self.random(lengths.secret),
      ])
  }

  private func putPath(
    _ tree: BareTrees.Tree, _ key: Data, _ change: Int, _ database: Database
  ) throws {
    var written: Set<UInt64> = []
    try putPath(tree, key, change, database, unless: &written)
  }

  /// Writes the nodes on the path of a key, unless they were written in this transaction.
  private func putPath(
    _ tree: BareTrees.Tree, _ key: Data, _ change: Int, _ database: Database,
    unless written: inout Set<UInt64>
  ) throws {
    for (prefix, length) in trees.path(tree, key, change) where written.insert(prefix).inserted {
      try Self.putNode(tree, prefix, length: length, database)
    }
  }

  static func putNode(
    _ tree: BareTrees.Tree, _ prefix: UInt64, length: Int, _ database: Database
  ) throws {
    try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO \(tree.rawValue) (prefix, content) VALUES (?, ?)"
    )
    .execute(arguments: [Int64(prefix), Self.random(length)])
  }

  func putState(_ database: Database) throws {
    try database.cachedStatement(sql: "INSERT OR REPLACE INTO state (one, box) VALUES (1, ?)")
      .execute(arguments: [Self.random(lengths.state)])
    trees.counter += 1
    try database.cachedStatement(sql: "INSERT OR REPLACE INTO chain (place, box) VALUES (?, ?)")
      .execute(arguments: [trees.counter % 1000, Self.random(lengths.chain)])
  }

  static func insertToken(_ token: Data, _ id: Data, _ database: Database) throws {
    try database.cachedStatement(sql: "INSERT INTO token (token, item) VALUES (?, ?)")
      .execute(arguments: [token, id])
  }
}
