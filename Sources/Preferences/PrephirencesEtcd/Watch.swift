internal import PrephirencesSystem

/// A watch, on the thread that asked for it.
struct Watch {
  private let gateway: GatewayClient
  private let hub: WatchHub
  private let subscription: WatchSubscription
  private let cancellation: EtcdCancellation
  /// The first revision that was not delivered.
  private var next: Int64
  /// A change that a check found, and when it should have been delivered.
  private var missed: (revision: Int64, deadline: Deadline)?

  init(
    _ gateway: GatewayClient, _ hub: WatchHub, _ keys: EtcdKeys, from revision: Int64,
    _ cancellation: EtcdCancellation
  ) {
    self.gateway = gateway
    self.hub = hub
    self.cancellation = cancellation
    subscription = WatchSubscription(keys, from: revision)
    next = revision
  }

  private var timing: EtcdConfiguration.Timing { gateway.configuration.timing }
  private var timeout: Deadline { Deadline(after: timing.silence) }
  private var limits: CallLimits { CallLimits(timeout, cancellation) }

  /// Watches until it fails.
  mutating func run(
    _ began: (EtcdHeader) throws -> Void, _ handler: (EtcdEvents) throws -> Void
  ) throws -> Never {
    // Checked before any lock: a fork may have left it locked.
    try ForkMark.etcd.check(EtcdError.forked)
    hub.add(subscription)
    defer { if !ForkMark.etcd.isForked { hub.remove(subscription) } }
    var hasBegun = false
    while true {
      let items = try arrived()
      for item in items {
        try (cancellation as EtcdCancellation?).check()
        switch item {
        case .created(let header):
          missed = nil
          try accept(header)
          if !hasBegun { try began(header) }
          hasBegun = true
        case .events(let answer):
          next = max(next, (answer.events.last?.row.modRevision ?? answer.header.revision) + 1)
          try handler(answer)
        }
      }
      // If the watch does not begin, the connection's thread reports that.
      guard items.isEmpty, hasBegun else { continue }
      try check()
      if missed == nil {
        try handler(EtcdEvents(header: EtcdHeader(revision: next - 1), events: []))
      }
    }
  }

  private func arrived() throws -> [WatchSubscription.Item] {
    do {
      return try subscription.take(CallLimits(Deadline(after: timing.checking), cancellation))
    } catch let error as EtcdError where error.code == .permissionDenied {
      // etcd 3.5 says the same of a token that it has forgotten; a call gets a new one.
      _ = try asking { try gateway.look(subscription.keys, limits) }
      throw EtcdError(.unreachable, "etcd ended the watch")
    }
  }

  /// Refuses a watch that begins in the future.
  ///
  /// It would miss revisions that a restored cluster uses again. A member that is behind the others
  /// looks the same.
  private func accept(_ header: EtcdHeader) throws {
    guard header.revision < next - 1 else { return }
    let revision = try asking { try gateway.look(subscription.keys, limits) }
    guard revision < next - 1 else { return }
    throw EtcdError(
      .compacted, "the cluster is behind the revision to watch from; it was restored, perhaps")
  }

  /// Checks a silent watch.
  ///
  /// A watch goes silent if its user loses the role, or if the connection swallows changes. If the
  /// check gets a new token, the connection is renewed.
  private mutating func check() throws {
    if let missed, missed.revision >= next, missed.deadline.hasPassed {
      gateway.skipEndpoint()
      throw EtcdError(.unreachable, "etcd has changes that the watch does not deliver")
    }
    let change = try asking {
      try gateway.change(of: subscription.keys, from: next, limits)
    }
    if missed.map({ $0.revision < next }) ?? true { missed = change.map { ($0, timeout) } }
    hub.renew(with: try gateway.token(limits))
  }

  private func asking<Result>(_ body: () throws -> Result) throws -> Result {
    // A watch has no deadline: a member that does not answer in time is unreachable.
    try EtcdError.mapping {
      $0.code == .timedOut ? EtcdError(.unreachable, $0.message) : $0
    } of: {
      try body()
    }
  }
}

/// The part of an answer that is for one watch of a connection.
struct WatchAnswer {
  /// The number that the server gave the watch.
  let number: Int64
  let header: EtcdHeader
  let isCreated: Bool
  /// Whether more changes of the last revision may follow.
  let isFragment: Bool
  /// Why the server has ended the watch.
  let end: EtcdError?
  private let result: JSONValue

  init(_ line: [UInt8], _ endpoint: EtcdConfiguration.Endpoint) throws {
    do {
      let value = try JSONValue(answer: line)
      if let error = value["error"] {
        throw EtcdError(error, endpoint)?.helped(by: .none) ?? EtcdError.malformed
      }
      guard let result = value["result"] else { throw EtcdError.malformed }
      self.result = result
      number = try result.number("watch_id")
      header = try result.header()
      isCreated = try result.flag("created")
      isFragment = try result.flag("fragment")
      end = try result.flag("canceled") ? try Self.end(result, endpoint) : nil
    } catch let error as EtcdError {
      throw error.happening(false)
    }
  }

  /// The changes of the keys; a progress notice has none.
  func events(of keys: EtcdKeys) throws -> EtcdEvents {
    var events: [EtcdEvents.Event] = []
    for event in try result.listed("events") { events.append(try event.event(of: keys)) }
    return EtcdEvents(header: header, events: events)
  }

  /// Why a watch was cancelled.
  private static func end(
    _ result: JSONValue, _ endpoint: EtcdConfiguration.Endpoint
  ) throws -> EtcdError {
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

/// Splits the endless answer to a watch into lines.
struct WatchLines {
  /// The longest line: a revision has at most 1.5 MiB, and base64 and the keys add to it.
  static let limit = 16 << 20

  private var bytes: [UInt8] = []
  /// How far the bytes were searched for the end of a line.
  private var searched = 0

  /// Adds bytes, and returns the complete lines.
  mutating func add(_ data: [UInt8]) throws -> [[UInt8]] {
    var lines: [[UInt8]] = []
    bytes += data
    var start = 0
    while let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
      if end > start { lines.append(Array(bytes[start..<end])) }
      start = end + 1
      searched = start
    }
    bytes.removeFirst(start)
    searched = bytes.count
    guard bytes.count <= Self.limit else { throw EtcdError.malformed }
    return lines
  }

  /// The incomplete last line.
  var rest: [UInt8] { bytes }
}
