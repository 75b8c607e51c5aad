/// The bodies of requests.
extension JSONWriter {
  mutating func keys(_ keys: EtcdKeys) {
    base64("key", keys.key)
    if let end = keys.end { base64("range_end", end) }
  }

  mutating func put(_ key: [UInt8], _ value: [UInt8], lease: Int64) {
    base64("key", key)
    base64("value", value)
    integer("lease", lease)
  }

  mutating func compare(_ compare: EtcdCompare) {
    switch compare {
    case .created(let keys, let relation, let revision):
      self.compare(keys, relation, "CREATE")
      integer("create_revision", revision)
    case .modified(let keys, let relation, let revision):
      self.compare(keys, relation, "MOD")
      integer("mod_revision", revision)
    case .version(let keys, let relation, let version):
      self.compare(keys, relation, "VERSION")
      integer("version", version)
    case .value(let keys, let relation, let value):
      self.compare(keys, relation, "VALUE")
      base64("value", value)
    }
  }

  private mutating func compare(
    _ keys: EtcdKeys, _ relation: EtcdCompare.Relation, _ target: StaticString
  ) {
    self.keys(keys)
    word("target", target)
    switch relation {
    case .equal: word("result", "EQUAL")
    case .notEqual: word("result", "NOT_EQUAL")
    case .greater: word("result", "GREATER")
    case .less: word("result", "LESS")
    }
  }

  mutating func operation(_ operation: EtcdOperation) {
    switch operation {
    case .put(let key, let value, let lease):
      object("request_put") { $0.put(key, value, lease: lease) }
    case .range(let keys, let keysOnly, let revision):
      object("request_range") { range in
        range.keys(keys)
        range.integer("revision", revision)
        range.flag("keys_only", keysOnly)
      }
    case .delete(let keys): object("request_delete_range") { $0.keys(keys) }
    }
  }

  mutating func transaction(_ transaction: EtcdTransaction) {
    array("compare", transaction.compares) { $0.compare($1) }
    array("success", transaction.success) { $0.operation($1) }
    array("failure", transaction.failure) { $0.operation($1) }
  }
}

/// The bodies of answers.
extension GatewayValue {
  /// Returns a number; a missing field is 0.
  func number<Number: FixedWidthInteger>(_ name: StaticString) throws -> Number {
    guard let value = self[name] else { return 0 }
    return try value.integer()
  }

  /// Returns a number below the greatest one, so that the next can be computed, such as a revision.
  private func counted(_ name: StaticString) throws -> Int64 {
    let number: Int64 = try number(name)
    guard number >= 0, number < .max else { throw EtcdError.malformed }
    return number
  }

  func flag(_ name: StaticString) throws -> Bool {
    guard let value = self[name] else { return false }
    return try value.isTrue()
  }

  private func data(_ name: StaticString) throws -> [UInt8] {
    guard let value = self[name] else { return [] }
    return try value.bytes()
  }

  func listed(_ name: StaticString) throws -> [GatewayValue] {
    guard let value = self[name] else { return [] }
    return try value.array()
  }

  func header() throws -> EtcdHeader {
    guard let header = self["header"], case .object = header else { throw EtcdError.malformed }
    return EtcdHeader(
      clusterID: try header.number("cluster_id"), memberID: try header.number("member_id"),
      revision: try header.counted("revision"))
  }

  func storedRow() throws -> EtcdRow {
    EtcdRow(
      key: try data("key"), value: try data("value"),
      createRevision: try counted("create_revision"), modRevision: try counted("mod_revision"),
      version: try counted("version"), lease: try number("lease"))
  }

  /// Returns the rows of a range, sorted by key.
  private func rows(of keys: EtcdKeys) throws -> [EtcdRow] {
    var rows: [EtcdRow] = []
    for element in try listed("kvs") {
      let row = try element.storedRow()
      guard keys.contains(row.key),
        rows.last.map({ $0.key.lexicographicallyPrecedes(row.key) }) ?? true
      else { throw EtcdError.malformed }
      rows.append(row)
    }
    return rows
  }

  func rangeAnswer(of keys: EtcdKeys) throws -> EtcdRangeAnswer {
    EtcdRangeAnswer(
      header: try header(), rows: try rows(of: keys), count: try counted("count"),
      hasMore: try flag("more"))
  }

  /// Returns the answer to a transaction; the operations tell how to read it.
  func answer(to transaction: EtcdTransaction) throws -> EtcdTransactionAnswer {
    let succeeded = try flag("succeeded")
    let operations = succeeded ? transaction.success : transaction.failure
    let answers = try listed("responses")
    guard answers.count == operations.count else { throw EtcdError.malformed }
    var responses: [EtcdTransactionAnswer.Response] = []
    for (operation, answer) in zip(operations, answers) {
      switch operation {
      case .put: responses.append(.put)
      case .range(let keys, _, _):
        responses.append(.range(try answer["response_range"]?.rows(of: keys) ?? []))
      case .delete:
        responses.append(
          .delete(count: try answer["response_delete_range"]?.number("deleted") ?? 0))
      }
    }
    return EtcdTransactionAnswer(
      header: try header(), succeeded: succeeded, responses: responses)
  }

  func event(of keys: EtcdKeys) throws -> EtcdEvents.Event {
    guard let row = try self["kv"]?.storedRow(), keys.contains(row.key) else {
      throw EtcdError.malformed
    }
    let isRemoval: Bool
    switch self["type"] {
    case nil: isRemoval = false
    case let type?: isRemoval = try type.string() == "DELETE"
    }
    return EtcdEvents.Event(row: row, isRemoval: isRemoval)
  }
}
