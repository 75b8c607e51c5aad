package import PrephirencesSystem

extension EtcdClient {
  /// Returns the row of a range that was changed last, as of a revision, and how many rows there are.
  ///
  /// The row comes without its value. The cluster reads the whole range for it.
  package func newest(
    _ keys: EtcdKeys, revision: Int64, deadline: Deadline
  ) throws(EtcdError) -> EtcdRangeAnswer {
    try caller.range(keys, deadline, nil) { request in
      request.integer("revision", revision)
      request.integer("limit", 1)
      request.word("sort_order", "DESCEND")
      request.word("sort_target", "MOD")
      request.flag("keys_only", true)
    }
  }

  /// Returns the rows that a revision has changed, and how many rows there are.
  package func changed(
    _ keys: EtcdKeys, in revision: Int64, deadline: Deadline
  ) throws(EtcdError) -> EtcdRangeAnswer {
    try caller.range(keys, deadline, nil) { request in
      request.integer("revision", revision)
      request.integer("min_mod_revision", revision)
      request.integer("max_mod_revision", revision)
    }
  }

  /// Returns the rows as of a revision, without their values, and how many there are.
  package func names(
    _ keys: EtcdKeys, revision: Int64, limit: Int64 = 0, deadline: Deadline
  ) throws(EtcdError) -> EtcdRangeAnswer {
    try caller.range(keys, deadline, nil) { request in
      request.integer("revision", revision)
      request.integer("limit", limit)
      request.flag("keys_only", true)
    }
  }
}
