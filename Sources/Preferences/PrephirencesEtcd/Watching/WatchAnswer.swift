/// What a line says of one of the watches of a connection.
struct WatchAnswer {
  /// The server's number of the watch.
  let number: Int64
  let header: EtcdHeader
  let isCreated: Bool
  /// Whether more of the last revision may follow.
  let isFragment: Bool
  /// Why the server has ended the watch.
  let end: EtcdError?
  private let result: JSONValue

  /// - Throws: ``Refusal`` if the connection has ended.
  init(_ line: [UInt8], _ endpoint: EtcdConfiguration.Endpoint) throws(Refusal) {
    do throws(EtcdError) {
      let value = try JSONReader.read(line)
      if let error = value["error"] {
        throw Refusal(error, endpoint)?.error ?? .malformed
      }
      guard let result = value["result"] else { throw .malformed }
      self.result = result
      number = try result.number("watch_id")
      header = try result.header()
      isCreated = try result.flag("created")
      isFragment = try result.flag("fragment")
      end = try result.flag("canceled") ? try Self.end(result, endpoint) : nil
    } catch {
      throw Refusal(error.happening(false))
    }
  }

  /// The changes of the keys, none in a progress notice.
  func events(of keys: EtcdKeys) throws(EtcdError) -> EtcdEvents {
    var events: [EtcdEvents.Event] = []
    for event in try result.listed("events") { events.append(try event.event(of: keys)) }
    return EtcdEvents(header: header, events: events)
  }

  /// Why a watch was cancelled.
  private static func end(
    _ result: JSONValue, _ endpoint: EtcdConfiguration.Endpoint
  ) throws(EtcdError) -> EtcdError {
    let reason = try result["cancel_reason"]?.string() ?? ""
    let compacted: Int64 = try result.number("compact_revision")
    if compacted > 0 || reason.contains("compacted") {
      return EtcdError(.compacted, "the revision to watch from was compacted")
    }
    if reason.contains("permission denied") {
      return EtcdError(.permissionDenied, "etcd says: permission denied")
    }
    return EtcdError(.unreachable, "\(endpoint.authority) ended the watch")
  }
}
