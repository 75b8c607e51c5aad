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
