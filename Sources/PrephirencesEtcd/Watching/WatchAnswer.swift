/// What a line of a watch says.
enum WatchAnswer {
  case created(EtcdHeader)
  /// Changes; `isFragment` says that more of the last revision may follow.
  case events(EtcdEvents, isFragment: Bool)

  /// - Throws: ``Refusal`` if the watch has ended.
  init(
    _ line: [UInt8], _ keys: EtcdKeys, _ endpoint: EtcdConfiguration.Endpoint
  ) throws(Refusal) {
    do throws(EtcdError) {
      let value = try JSONReader.read(line)
      if let error = value["error"] {
        throw Refusal(error, endpoint)?.error ?? .malformed
      }
      guard let result = value["result"] else { throw .malformed }
      let header = try result.header()
      if try result.flag("canceled") { throw try Self.end(result, endpoint) }
      if try result.flag("created") {
        self = .created(header)
        return
      }
      var events: [EtcdEvents.Event] = []
      for event in try result.listed("events") { events.append(try event.event(of: keys)) }
      self = .events(
        EtcdEvents(header: header, events: events), isFragment: try result.flag("fragment"))
    } catch {
      throw Refusal(error.happening(false))
    }
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
