import CSodiumForBare
import Foundation
import GRDB

/// The minimum work of a vault: the same rows through the same SQLite library and the same boxes,
/// without the vault's protections.
public final class BareStore {
  struct Failure: Error {}

  /// The rows of one item, as stored in a vault.
  public struct ItemRows {
    let columns: [DatabaseValue]
    let tokens: [Data]
  }

  let queue: DatabaseQueue
  var trees: BareTrees
  let lengths: Lengths

  private static let key = [UInt8](repeating: 0, count: 32)
  private let metadataBox: [UInt8]
  private let secretBox: [UInt8]

  /// The lengths of what a vault writes for one of the items of the file.
  struct Lengths {
    var metadata = 296
    var secret = 296
    var tokenCount = 2
    var state = 297
    var chain = 145
  }

  /// Opens a copy of a vault's file, with the journal mode and durability of vaults.
  public init(path: String) throws {
    guard sodium_init() >= 0 else { throw Failure() }
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .timeout(120)
    configuration.prepareDatabase { database in
      try database.execute(
        sql: """
          PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST; PRAGMA journal_mode = TRUNCATE
          """)
    }
    queue = try DatabaseQueue(path: path, configuration: configuration)
    (lengths, trees) = try queue.read { database in
      var lengths = Lengths()
      let item = """
        SELECT length(metadata), length(secret), length(tokens) / 16 FROM item LIMIT 1
        """
      if let row = try Row.fetchOne(database, sql: item) {
        (lengths.metadata, lengths.secret, lengths.tokenCount) = (row[0], row[1], row[2])
      }
      lengths.state = try Int.fetchOne(database, sql: "SELECT length(box) FROM state") ?? 297
      lengths.chain = try Int.fetchOne(database, sql: "SELECT length(box) FROM chain") ?? 145
      return (lengths, try BareTrees(database))
    }
    metadataBox = Self.seal(count: lengths.metadata - 40)
    secretBox = Self.seal(count: lengths.secret - 40)
  }

  /// Returns the ids of some items that are far from each other.
  public func ids(_ count: Int) throws -> [Data] {
    try queue.read { database in
      // Ids are hashes, so their order is independent of names.
      try Data.fetchAll(database, sql: "SELECT id FROM item ORDER BY substr(id, 3) LIMIT \(count)")
    }
  }

  /// Reads one row, makes one guarded allocation, and opens two boxes.
  public func get(_ id: Data) throws {
    let row = try queue.read { database in
      let sql = """
        SELECT id, class, device, version, tokens, hash, metadata, secret FROM item WHERE id = ?
        """
      return try Row.fetchOne(database.cachedStatement(sql: sql), arguments: [id])
    }
    guard let row, (row[7] as Data).count == secretBox.count,
      let memory = sodium_malloc(secretBox.count)
    else { throw Failure() }
    defer { sodium_free(memory) }
    try Self.open(metadataBox, into: memory)
    try Self.open(secretBox, into: memory)
  }

  /// Returns every item and its tokens, in no particular order.
  public func allItems() throws -> [ItemRows] {
    try queue.read { database in
      var tokens: [Data: [Data]] = [:]
      for row in try Row.fetchAll(database, sql: "SELECT item, token FROM token") {
        tokens[row[0], default: []].append(row[1])
      }
      let sql = """
        SELECT id, class, device, version, tokens, hash, metadata, secret FROM item
        ORDER BY substr(id, 3)
        """
      return try Row.fetchAll(database, sql: sql).map { row in
        ItemRows(columns: Array(row.databaseValues), tokens: tokens[row[0]] ?? [])
      }
    }
  }

  /// Empties the tables, and inserts items in one transaction.
  public func empty() throws {
    try queue.write { database in
      try database.execute(
        sql: """
          DELETE FROM item; DELETE FROM token; DELETE FROM item_node; DELETE FROM token_node;
          DELETE FROM group_node; DELETE FROM chain
          """)
    }
    trees = BareTrees()
  }

  /// Inserts items, their tokens, and the nodes of their trees, each node once.
  public func insert(_ items: [ItemRows]) throws {
    try queue.write { database in
      for item in items {
        try database.cachedStatement(sql: Self.insertion)
          .execute(arguments: StatementArguments(item.columns))
        guard case .blob(let id) = item.columns[0].storage else { throw Failure() }
        for token in item.tokens { try Self.insertToken(token, id, database) }
      }
      for tree in BareTrees.Tree.allCases {
        let keys = Set(tree == .items ? try items.map(Self.id) : items.flatMap(\.tokens))
        for (prefix, length) in trees.built(tree, keys) {
          try Self.putNode(tree, prefix, length: length, database)
        }
      }
      try putState(database)
    }
  }

  private static func id(_ item: ItemRows) throws -> Data {
    guard case .blob(let id) = item.columns[0].storage else { throw Failure() }
    return id
  }

  /// Returns random bytes.
  public static func random(_ count: Int) -> Data {
    var bytes = [UInt8](repeating: 0, count: count)
    randombytes_buf(&bytes, count)
    return Data(bytes)
  }

  private static func seal(count: Int) -> [UInt8] {
    var box = [UInt8](random(count + 40))
    let message = [UInt8](repeating: 7, count: count)
    box.withUnsafeMutableBufferPointer { box in
      guard let start = box.baseAddress else { return }
      crypto_secretbox_easy(start + 24, message, UInt64(count), start, key)
    }
    return box
  }

  private static func open(_ box: [UInt8], into memory: UnsafeMutableRawPointer) throws {
    let status = box.withUnsafeBufferPointer { box in
      guard let start = box.baseAddress else { return CInt(-1) }
      return crypto_secretbox_open_easy(
        memory.assumingMemoryBound(to: UInt8.self), start + 24, UInt64(box.count - 24), start, key)
    }
    guard status == 0 else { throw Failure() }
  }
}

extension BareStore {
  /// Creates the vault of the program `BareGet`: one item that a key of zeros opens.
  public static func makeVaultForBareGet(_ path: String, account: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.write { database in
      try database.execute(
        sql: """
          CREATE TABLE item (id BLOB NOT NULL PRIMARY KEY, class INTEGER NOT NULL, device BLOB,
          version INTEGER NOT NULL, metadata BLOB NOT NULL, secret BLOB NOT NULL) WITHOUT ROWID
          """)
      try database.execute(
        sql: "INSERT INTO item VALUES (?, 0, NULL, 1, ?, ?)",
        arguments: [account, Data(seal(count: 256)), Data(seal(count: 256))])
    }
    try queue.close()
  }
}
