package import PrephirencesFiles

extension EtcdClient {
  /// Returns the row of a range that was changed last, as of a revision, and how many rows there are.
  ///
  /// The row comes without its value. The cluster reads the whole range for it.
  package func newest(
    _ keys: EtcdKeys, revision: Int64, deadline: Deadline
  ) throws(EtcdError) -> EtcdRangeAnswer {
    let body = JSONWriter.object { writer in
      writer.keys(keys)
      writer.integer("revision", revision)
      writer.integer("limit", 1)
      writer.word("sort_order", "DESCEND")
      writer.word("sort_target", "MOD")
      writer.flag("keys_only", true)
    }
    return try caller.call("/v3/kv/range", body, .none, deadline, nil) {
      answer throws(EtcdError) in try answer.rangeAnswer(of: keys)
    }
  }

  /// Returns the rows that a revision has changed, and how many rows there are.
  package func changed(
    _ keys: EtcdKeys, in revision: Int64, deadline: Deadline
  ) throws(EtcdError) -> EtcdRangeAnswer {
    let body = JSONWriter.object { writer in
      writer.keys(keys)
      writer.integer("revision", revision)
      writer.integer("min_mod_revision", revision)
      writer.integer("max_mod_revision", revision)
    }
    return try caller.call("/v3/kv/range", body, .none, deadline, nil) {
      answer throws(EtcdError) in try answer.rangeAnswer(of: keys)
    }
  }

  /// Returns the rows as of a revision, without their values, and how many there are.
  package func names(
    _ keys: EtcdKeys, revision: Int64, limit: Int64 = 0, deadline: Deadline
  ) throws(EtcdError) -> EtcdRangeAnswer {
    let body = JSONWriter.object { writer in
      writer.keys(keys)
      writer.integer("revision", revision)
      writer.integer("limit", limit)
      writer.flag("keys_only", true)
    }
    return try caller.call("/v3/kv/range", body, .none, deadline, nil) {
      answer throws(EtcdError) in try answer.rangeAnswer(of: keys)
    }
  }
}
