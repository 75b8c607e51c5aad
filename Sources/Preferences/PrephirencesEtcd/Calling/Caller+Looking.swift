internal import PrephirencesSystem

extension Caller {
  /// Reads a range.
  ///
  /// - Parameters:
  ///   - keys: The range.
  ///   - deadline: How long to try.
  ///   - cancellation: What ends the call.
  ///   - options: Writes the other fields of the request.
  /// - Returns: The answer.
  /// - Throws: ``EtcdError``.
  func range(
    _ keys: EtcdKeys, _ deadline: Deadline, _ cancellation: EtcdCancellation?,
    _ options: (inout JSONWriter) -> Void
  ) throws(EtcdError) -> EtcdRangeAnswer {
    let body = JSONWriter.object { request in
      request.keys(keys)
      options(&request)
    }
    return try call("/v3/kv/range", body, .none, deadline, cancellation) {
      answer throws(EtcdError) in try answer.rangeAnswer(of: keys)
    }
  }

  /// Reads as little as possible of some keys, to know whether they may be read.
  ///
  /// - Returns: The revision of the cluster.
  func look(
    _ keys: EtcdKeys, _ deadline: Deadline, _ cancellation: EtcdCancellation?
  ) throws(EtcdError) -> Int64 {
    try look(keys, from: 0, deadline, cancellation).header.revision
  }

  /// Returns the revision of a key that was changed at a revision or later; `nil` if there is none.
  func change(
    of keys: EtcdKeys, from revision: Int64, _ deadline: Deadline,
    _ cancellation: EtcdCancellation?
  ) throws(EtcdError) -> Int64? {
    // Such a search reads all rows in the cluster, so it is for changed ones only.
    guard try look(keys, deadline, cancellation) >= revision else { return nil }
    return try look(keys, from: revision, deadline, cancellation).rows.first?.modRevision
  }

  private func look(
    _ keys: EtcdKeys, from revision: Int64, _ deadline: Deadline,
    _ cancellation: EtcdCancellation?
  ) throws(EtcdError) -> EtcdRangeAnswer {
    try range(keys, deadline, cancellation) { request in
      request.integer("limit", 1)
      request.integer("min_mod_revision", revision)
      request.flag("keys_only", true)
    }
  }
}
