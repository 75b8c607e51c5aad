internal import PrephirencesSystem

/// The bodies of requests.
///
/// Fields that are nothing are left out, as the gateway does.
extension JSONValue {
  typealias Field = (name: String, value: JSONValue?)

  static func fields(_ fields: [Field]) -> JSONValue {
    .object(fields.compactMap { name, value in value.map { (name, $0) } })
  }

  static func base64(_ bytes: [UInt8]) -> JSONValue { .string(bytes.base64) }

  /// A number of 64 bits, which is written as a text.
  static func integer(_ number: Int64) -> JSONValue? { number == 0 ? nil : .string("\(number)") }

  fileprivate static func list(_ elements: [JSONValue]) -> JSONValue? {
    elements.isEmpty ? nil : .array(elements)
  }

  /// The text of a request.
  var body: [UInt8] { Array(lineAsGiven.utf8) }

  static func put(_ key: [UInt8], _ value: [UInt8], lease: Int64) -> JSONValue {
    .fields([("key", .base64(key)), ("value", .base64(value)), ("lease", .integer(lease))])
  }
}

extension EtcdKeys {
  var fields: [JSONValue.Field] {
    [("key", .base64(key)), ("range_end", end.map(JSONValue.base64))]
  }
}

extension EtcdCompare {
  fileprivate var json: JSONValue {
    switch self {
    case .created(let keys, let relation, let revision):
      Self.json(keys, relation, "CREATE", ("create_revision", .integer(revision)))
    case .modified(let keys, let relation, let revision):
      Self.json(keys, relation, "MOD", ("mod_revision", .integer(revision)))
    case .version(let keys, let relation, let version):
      Self.json(keys, relation, "VERSION", ("version", .integer(version)))
    case .value(let keys, let relation, let value):
      Self.json(keys, relation, "VALUE", ("value", .base64(value)))
    }
  }

  private static func json(
    _ keys: EtcdKeys, _ relation: Relation, _ target: String, _ field: JSONValue.Field
  ) -> JSONValue {
    let result =
      switch relation {
      case .equal: "EQUAL"
      case .notEqual: "NOT_EQUAL"
      case .greater: "GREATER"
      case .less: "LESS"
      }
    return .fields(
      keys.fields + [("target", .string(target)), ("result", .string(result)), field])
  }
}

extension EtcdOperation {
  fileprivate var json: JSONValue {
    switch self {
    case .put(let key, let value, let lease):
      .fields([("request_put", .put(key, value, lease: lease))])
    case .range(let keys, let keysOnly, let revision):
      .fields([
        (
          "request_range",
          .fields(
            keys.fields + [
              ("revision", .integer(revision)), ("keys_only", keysOnly ? .bool(true) : nil),
            ])
        )
      ])
    case .delete(let keys): .fields([("request_delete_range", .fields(keys.fields))])
    }
  }
}

extension EtcdTransaction {
  var json: JSONValue {
    .fields([
      ("compare", .list(compares.map(\.json))), ("success", .list(success.map(\.json))),
      ("failure", .list(failure.map(\.json))),
    ])
  }
}

/// The bodies of answers.
extension JSONValue {
  /// Reads an answer; etcd's have a depth of 6 at most.
  init(answer bytes: [UInt8]) throws {
    do { try self.init(reading: bytes.span, maximumDepth: 32) } catch { throw EtcdError.malformed }
  }

  /// The value of a field; `nil` if it is absent or null, or this is not an object.
  subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self,
      let value = members.first(where: { $0.name == name })?.value
    else { return nil }
    if case .null = value { return nil }
    return value
  }

  /// A whole number; the gateway writes those of 64 bits as texts.
  func integer<Number: FixedWidthInteger>() throws -> Number {
    switch self {
    case .number(let digits), .string(let digits):
      guard let number = Number(digits) else { throw EtcdError.malformed }
      return number
    default: throw EtcdError.malformed
    }
  }

  func string() throws -> String {
    guard case .string(let text) = self else { throw EtcdError.malformed }
    return text
  }

  /// Returns a number; a missing field is 0.
  func number<Number: FixedWidthInteger>(_ name: String) throws -> Number {
    guard let value = self[name] else { return 0 }
    return try value.integer()
  }

  /// Returns a number below the greatest one, so that the next can be computed, such as a revision.
  private func counted(_ name: String) throws -> Int64 {
    let number: Int64 = try number(name)
    guard number >= 0, number < .max else { throw EtcdError.malformed }
    return number
  }

  func flag(_ name: String) throws -> Bool {
    guard let value = self[name] else { return false }
    guard case .bool(let isTrue) = value else { throw EtcdError.malformed }
    return isTrue
  }

  private func data(_ name: String) throws -> [UInt8] {
    guard let text = try self[name]?.string() else { return [] }
    guard let bytes = [UInt8](base64: Array(text.utf8)[...]) else { throw EtcdError.malformed }
    return bytes
  }

  func listed(_ name: String) throws -> [JSONValue] {
    guard let value = self[name] else { return [] }
    guard case .array(let elements) = value else { throw EtcdError.malformed }
    return elements
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

extension EtcdError {
  /// An answer that cannot be read.
  static let malformed = EtcdError(
    .protocolViolation,
    "the answer is not one of etcd's; check the address, and that nothing stands between")
}
