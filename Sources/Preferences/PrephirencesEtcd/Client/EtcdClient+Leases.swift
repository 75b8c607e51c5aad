package import PrephirencesSystem

extension EtcdClient {
  /// - Returns: The lease's number.
  package func grantLease(
    seconds: Int64, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) -> Int64 {
    let body = JSONWriter.object { $0.integer("TTL", seconds) }
    return try caller.call("/v3/lease/grant", body, .change, deadline, cancellation) {
      answer throws(EtcdError) in
      let lease: Int64 = try answer.number("ID")
      guard lease != 0 else { throw .malformed }
      return lease
    }
  }

  /// - Throws: ``EtcdError``, with ``EtcdError/Code/notFound`` if the lease has ended.
  package func keepLeaseAlive(
    _ lease: Int64, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) {
    let body = JSONWriter.object { $0.integer("ID", lease) }
    // Twice does the same as once.
    let seconds: Int64 = try caller.call(
      "/v3/lease/keepalive", body, .none, deadline, cancellation
    ) { answer throws(EtcdError) in
      guard let result = answer["result"] else { throw .malformed }
      return try result.number("TTL")
    }
    guard seconds > 0 else { throw EtcdError(.notFound, "the lease has ended") }
  }

  /// - Throws: ``EtcdError``, with ``EtcdError/Code/notFound`` if the lease has ended.
  package func revokeLease(
    _ lease: Int64, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) {
    let body = JSONWriter.object { $0.integer("ID", lease) }
    try caller.call("/v3/lease/revoke", body, .change, deadline, cancellation) {
      answer throws(EtcdError) in _ = try answer.header()
    }
  }
}
