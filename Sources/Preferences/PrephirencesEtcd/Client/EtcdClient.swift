package import PrephirencesSystem

/// A client of etcd's JSON gateway.
///
/// Its calls block: call them on threads of your own, never on those of Swift's tasks. It is safe to
/// use from several threads. A call tries the endpoints in turn. It retries what cannot have
/// happened; a change whose outcome is unknown is reported, by ``EtcdError/mayHaveHappened``, for the
/// caller to settle. The first call loads libcurl.
package final class EtcdClient: Sendable {
  let caller: Caller
  let hub: WatchHub

  package var configuration: EtcdConfiguration { caller.configuration }

  package init(_ configuration: EtcdConfiguration) {
    caller = Caller(configuration)
    hub = WatchHub(caller)
  }

  /// Returns the client of this process for a configuration: equal ones share the login, the
  /// connections and the watch.
  package static func shared(_ configuration: EtcdConfiguration) -> EtcdClient {
    guard let identity = configuration.identity else { return EtcdClient(configuration) }
    return clients.withLock { clients in
      if let client = clients[identity]?.client { return client }
      clients = clients.filter { $1.client != nil }
      let client = EtcdClient(configuration)
      clients[identity] = Entry(client: client)
      return client
    }
  }

  private struct Entry {
    weak var client: EtcdClient?
  }

  private static let clients = PosixMutex<[EtcdConfiguration.Identity: Entry]>([:])

  /// Whether the cluster lets everybody in, as known from the last call; `nil` before.
  package var isWithoutAuthentication: Bool? { caller.login.isWithoutAuthentication }

  package func range(
    _ keys: EtcdKeys, revision: Int64 = 0, limit: Int64 = 0, isSerializable: Bool = false,
    deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) -> EtcdRangeAnswer {
    try caller.range(keys, deadline, cancellation) { request in
      request.integer("revision", revision)
      request.integer("limit", limit)
      request.flag("serializable", isSerializable)
    }
  }

  package func put(
    _ key: [UInt8], _ value: [UInt8], lease: Int64 = 0, deadline: Deadline,
    cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) -> EtcdHeader {
    let body = JSONWriter.object { $0.put(key, value, lease: lease) }
    return try caller.call("/v3/kv/put", body, .change, deadline, cancellation) {
      answer throws(EtcdError) in try answer.header()
    }
  }

  package func delete(
    _ keys: EtcdKeys, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) -> (header: EtcdHeader, count: Int64) {
    let body = JSONWriter.object { $0.keys(keys) }
    return try caller.call("/v3/kv/deleterange", body, .change, deadline, cancellation) {
      answer throws(EtcdError) in (try answer.header(), try answer.number("deleted"))
    }
  }

  package func perform(
    _ transaction: EtcdTransaction, deadline: Deadline, cancellation: EtcdCancellation? = nil
  ) throws(EtcdError) -> EtcdTransactionAnswer {
    let body = JSONWriter.object { $0.transaction(transaction) }
    let effect: Caller.Effect = transaction.isReadOnly ? .none : .change
    return try caller.call("/v3/kv/txn", body, effect, deadline, cancellation) {
      answer throws(EtcdError) in try answer.answer(to: transaction)
    }
  }
}
