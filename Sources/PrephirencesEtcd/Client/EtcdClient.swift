package import PrephirencesFiles

/// A client of etcd's JSON gateway.
///
/// Its calls block: call them on threads of your own, never on those of Swift's tasks. It is safe to
/// use from several threads. A call tries the endpoints in turn. It retries what cannot have
/// happened; a change whose outcome is unknown is reported, by ``EtcdError/mayHaveHappened``, for the
/// caller to settle.
package final class EtcdClient: Sendable {
  package let configuration: EtcdConfiguration

  package init(_ configuration: EtcdConfiguration) {
    self.configuration = configuration
  }

  /// Whether the cluster lets everybody in, as known from the last login; `nil` before.
  package var isWithoutAuthentication: Bool? { nil }

  package func range(
    _ keys: EtcdKeys, revision: Int64 = 0, limit: Int64 = 0, isSerializable: Bool = false,
    deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) -> EtcdRangeAnswer {
    throw EtcdError(.unreachable, "not built yet")
  }

  /// Reads a range of any length in pages, all at the revision of the first.
  package func snapshot(
    _ keys: EtcdKeys, pageLimit: Int64 = 256, deadline: Deadline,
    cancellation: EtcdCancellation? = nil, page: ([EtcdRow]) throws -> Void
  ) throws -> EtcdHeader {
    throw EtcdError(.unreachable, "not built yet")
  }

  package func put(
    _ key: [UInt8], _ value: [UInt8], lease: Int64 = 0, deadline: Deadline,
    cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) -> EtcdHeader {
    throw EtcdError(.unreachable, "not built yet")
  }

  package func delete(
    _ keys: EtcdKeys, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) -> (header: EtcdHeader, count: Int64) {
    throw EtcdError(.unreachable, "not built yet")
  }

  package func perform(
    _ transaction: EtcdTransaction, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) -> EtcdTransactionAnswer {
    throw EtcdError(.unreachable, "not built yet")
  }

  /// - Returns: The lease's number.
  package func grantLease(
    seconds: Int64, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) -> Int64 {
    throw EtcdError(.unreachable, "not built yet")
  }

  package func keepLeaseAlive(
    _ lease: Int64, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) {
    throw EtcdError(.unreachable, "not built yet")
  }

  package func revokeLease(
    _ lease: Int64, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) {
    throw EtcdError(.unreachable, "not built yet")
  }

  /// Watches keys from a revision on, until the closure throws, the watch fails, or it is cancelled.
  ///
  /// It never returns without a throw. It ends with ``EtcdError/Code/compacted`` if the revision was
  /// compacted, and with ``EtcdError/Code/unreachable`` if the member has no leader, or if nothing,
  /// not even a keepalive, arrives for long. From time to time it checks that the token still allows
  /// to read (an open watch goes silent when the role is revoked): then it ends with
  /// ``EtcdError/Code/permissionDenied``. It may renew its connection by itself, without a gap.
  ///
  /// - Parameters:
  ///   - began: Called when the server has accepted the watch.
  ///   - handler: Called with each answer, on this thread.
  package func watch(
    _ keys: EtcdKeys, from revision: Int64, cancellation: EtcdCancellation,
    began: (EtcdHeader) throws -> Void = { _ in }, handler: (EtcdEvents) throws -> Void
  ) throws -> Never {
    throw EtcdError(.unreachable, "not built yet")
  }
}

/// Ends calls from another thread.
package final class EtcdCancellation: Sendable {
  package init() {}

  /// Makes the calls that have this object end with ``EtcdError/Code/cancelled``, now and later.
  package func cancel() {}

  package var isCancelled: Bool { false }
}
