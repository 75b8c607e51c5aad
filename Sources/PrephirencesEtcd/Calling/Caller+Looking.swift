internal import PrephirencesFiles

extension Caller {
  /// Reads as little as possible of some keys, to know whether they may be read.
  ///
  /// - Returns: The revision of the cluster.
  func look(
    _ keys: EtcdKeys, _ deadline: Deadline, _ cancellation: EtcdCancellation?
  ) throws(EtcdError) -> Int64 {
    let body = JSONWriter.object { writer in
      writer.keys(keys)
      writer.integer("limit", 1)
      writer.flag("keys_only", true)
    }
    return try call("/v3/kv/range", body, .none, deadline, cancellation) {
      answer throws(EtcdError) in try answer.header().revision
    }
  }
}
