package import PrephirencesSystem

/// A client of etcd's JSON gateway.
///
/// Its calls block: call them on threads of your own, never on those of Swift's tasks. It is safe
/// to use from several threads. A call tries the endpoints in turn, and retries if the request
/// cannot have been performed. If the outcome of a change is unknown, the call fails with
/// ``EtcdError/mayHaveHappened``, and the caller must find out. The first call loads libcurl.
package final class EtcdClient: Sendable {
  let gateway: GatewayClient
  let hub: WatchHub

  package var configuration: EtcdConfiguration { gateway.configuration }

  package init(_ configuration: EtcdConfiguration) {
    gateway = GatewayClient(configuration)
    hub = WatchHub(gateway)
  }

  /// Returns this process's client for a configuration: equal configurations share the login, the
  /// connections and the watch.
  package static func shared(_ configuration: EtcdConfiguration) -> EtcdClient {
    guard let identity = configuration.identity else { return EtcdClient(configuration) }
    return clients.object(for: identity) { EtcdClient(configuration) }
  }

  private static let clients = WeakRegistry<EtcdConfiguration.Identity, EtcdClient>()

  /// Whether the cluster needs no login, as the last call has shown; `nil` before.
  package var isWithoutAuthentication: Bool? { gateway.login.isWithoutAuthentication }

  package func range(
    _ keys: EtcdKeys, revision: Int64 = 0, limit: Int64 = 0,
    deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws -> EtcdRangeAnswer {
    try gateway.range(
      keys, CallLimits(deadline, cancellation),
      [("revision", .integer(revision)), ("limit", .integer(limit))])
  }

  package func put(
    _ key: [UInt8], _ value: [UInt8], lease: Int64 = 0, deadline: Deadline,
    cancellation: EtcdCancellation? = nil
  ) throws -> EtcdHeader {
    let body = JSONValue.put(key, value, lease: lease).body
    return try gateway.call("/v3/kv/put", body, .change, CallLimits(deadline, cancellation)) {
      try $0.header()
    }
  }

  package func delete(
    _ keys: EtcdKeys, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws -> (header: EtcdHeader, count: Int64) {
    let body = JSONValue.fields(keys.fields).body
    let limits = CallLimits(deadline, cancellation)
    return try gateway.call("/v3/kv/deleterange", body, .change, limits) {
      (try $0.header(), try $0.number("deleted"))
    }
  }

  package func perform(
    _ transaction: EtcdTransaction, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws -> EtcdTransactionAnswer {
    let body = transaction.json.body
    let effect: GatewayClient.Effect = transaction.isReadOnly ? .none : .change
    return try gateway.call("/v3/kv/txn", body, effect, CallLimits(deadline, cancellation)) {
      try $0.answer(to: transaction)
    }
  }
}

extension EtcdClient {
  /// Reads a range of any length in pages, all at the revision of the first.
  ///
  /// Pages that are too large are read in smaller ones.
  package func snapshot(
    _ keys: EtcdKeys, pageLimit: Int64 = 256, deadline: Deadline,
    cancellation: EtcdCancellation? = nil, page: ([EtcdRow]) throws -> Void
  ) throws -> EtcdHeader {
    guard let end = keys.end else {
      let answer = try range(keys, deadline: deadline, cancellation: cancellation)
      try page(answer.rows)
      return answer.header
    }
    var header: EtcdHeader?
    var start = keys.key
    var limit = max(pageLimit, 1)
    while true {
      let answer: EtcdRangeAnswer
      do {
        answer = try range(
          .from(start, to: end), revision: header?.revision ?? 0, limit: limit, deadline: deadline,
          cancellation: cancellation)
      } catch let error as EtcdError where error.code == .tooLarge && limit > 1 {
        limit = max(limit / 4, 1)
        continue
      }
      let first = header ?? answer.header
      header = first
      try page(answer.rows)
      guard answer.hasMore else { return first }
      guard let last = answer.rows.last, !last.key.lexicographicallyPrecedes(start) else {
        throw EtcdError.malformed
      }
      start = last.key + [0]
    }
  }
}

extension EtcdClient {
  /// Returns the last changed row of a range at a revision, without its value, and how many rows
  /// there are.
  ///
  /// The cluster reads the whole range for it.
  package func newest(
    _ keys: EtcdKeys, revision: Int64, deadline: Deadline
  ) throws -> EtcdRangeAnswer {
    try gateway.range(
      keys, CallLimits(deadline),
      [
        ("revision", .integer(revision)),
        ("limit", .integer(1)),
        ("sort_order", .string("DESCEND")),
        ("sort_target", .string("MOD")),
        ("keys_only", .bool(true)),
      ])
  }

  /// Returns the rows that a revision has changed, and how many rows there are.
  package func changed(
    _ keys: EtcdKeys, in revision: Int64, deadline: Deadline
  ) throws -> EtcdRangeAnswer {
    try gateway.range(
      keys, CallLimits(deadline),
      [
        ("revision", .integer(revision)),
        ("min_mod_revision", .integer(revision)),
        ("max_mod_revision", .integer(revision)),
      ])
  }

  /// Returns the rows at a revision, without their values, and how many there are.
  package func names(
    _ keys: EtcdKeys, revision: Int64, limit: Int64 = 0, deadline: Deadline
  ) throws -> EtcdRangeAnswer {
    try gateway.range(
      keys, CallLimits(deadline),
      [
        ("revision", .integer(revision)),
        ("limit", .integer(limit)),
        ("keys_only", .bool(true)),
      ])
  }
}

extension EtcdClient {
  /// Watches keys from a revision on, until the closure throws, the watch fails, or it is
  /// cancelled.
  ///
  /// All watches of a client share one connection, which one thread reads. It only returns by
  /// throwing:
  ///
  /// - ``EtcdError/Code/compacted`` if the revision was compacted or is in the future, or if
  ///   `handler` is so slow that too many changes wait for it;
  /// - ``EtcdError/Code/unreachable`` if the connection ends, the member has no leader, or stops
  ///   answering;
  /// - ``EtcdError/Code/permissionDenied`` if the user may no longer read. An open watch only goes
  ///   silent then, so the client checks after ``EtcdConfiguration/Timing/checking`` without
  ///   changes.
  ///
  /// The connection is renewed without a gap when the token changes, and from time to time.
  ///
  /// Both closures are called on this thread: `began` once, when the server has accepted the watch,
  /// and `handler` with each answer, and without events after each check that has found nothing
  /// new.
  package func watch(
    _ keys: EtcdKeys, from revision: Int64, cancellation: EtcdCancellation,
    began: (EtcdHeader) throws -> Void = { _ in }, handler: (EtcdEvents) throws -> Void
  ) throws -> Never {
    var watch = Watch(gateway, hub, keys, from: revision, cancellation)
    try watch.run(began, handler)
  }
}

extension EtcdClient {
  /// Returns the number of a new lease.
  package func grantLease(
    seconds: Int64, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws -> Int64 {
    let body = JSONValue.fields([("TTL", .integer(seconds))]).body
    return try gateway.call("/v3/lease/grant", body, .change, CallLimits(deadline, cancellation)) {
      answer in
      let lease: Int64 = try answer.number("ID")
      guard lease != 0 else { throw EtcdError.malformed }
      return lease
    }
  }
}
