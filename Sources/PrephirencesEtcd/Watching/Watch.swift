internal import CLibcurl
internal import PrephirencesFiles

/// A watch, over one connection after the other.
struct Watch {
  let caller: Caller
  let keys: EtcdKeys
  let cancellation: EtcdCancellation
  /// The first revision that was not delivered.
  private(set) var next: Int64
  /// The beginning of a revision whose rest follows.
  private var held: [EtcdEvents.Event] = []
  /// A change that a check found, and the time by which it should be delivered.
  private var missed: (revision: Int64, deadline: Deadline)?
  /// Whether the server has accepted the watch on this connection.
  private var isCreated = false
  /// The connections that the server has accepted.
  private var accepted = 0

  init(
    _ caller: Caller, _ keys: EtcdKeys, from revision: Int64, _ cancellation: EtcdCancellation
  ) {
    self.caller = caller
    self.keys = keys
    self.cancellation = cancellation
    next = revision
  }

  private var timing: EtcdConfiguration.Timing { caller.configuration.timing }
  private var patience: Deadline { Deadline(after: timing.silence) }

  /// Watches until it fails.
  mutating func run(
    _ began: (EtcdHeader) throws -> Void, _ handler: (EtcdEvents) throws -> Void
  ) throws -> Never {
    try ForkGuard.check()
    var attempts = Attempts(caller.configuration.endpoints.count)
    while true {
      var token: Token?
      let before = accepted
      do {
        let endpoint = try caller.endpoint()
        token = try caller.token(patience, cancellation)
        try session(endpoint, token, began, handler)
      } catch let refusal as Refusal {
        let isLogin = refusal.remedy == .newLogin
        if isLogin { caller.login.forget(token) } else { caller.skipEndpoint() }
        // What was missed is known to the caller only.
        guard isLogin || accepted == 0 else { throw refusal.error }
        if accepted > before { attempts = Attempts(caller.configuration.endpoints.count) }
        try attempts.allow(refusal, patience, cancellation)
      }
    }
  }

  /// Watches over one connection, and returns when it should be renewed.
  private mutating func session(
    _ endpoint: EtcdConfiguration.Endpoint, _ token: Token?,
    _ began: (EtcdHeader) throws -> Void, _ handler: (EtcdEvents) throws -> Void
  ) throws {
    held = []
    missed = nil
    isCreated = false
    let transfer = try refusing { () throws(EtcdError) in try Transfer() }
    let request = HTTPRequest(
      endpoint: endpoint, path: "/v3/watch", token: token, body: body,
      answerLimit: WatchLines.limit)
    try refusing { () throws(EtcdError) in try transfer.begin(request, caller.configuration) }
    defer { transfer.finish() }
    try transfer.waking(by: cancellation) {
      try follow(transfer, request, began, handler)
    }
  }

  private mutating func follow(
    _ transfer: Transfer, _ request: HTTPRequest,
    _ began: (EtcdHeader) throws -> Void, _ handler: (EtcdEvents) throws -> Void
  ) throws {
    let renewal = Deadline(after: timing.renewing)
    var lines = WatchLines()
    var check = patience
    while true {
      let wait = isCreated ? check.limited(by: renewal) : check
      let step = try refusing { () throws(EtcdError) in try transfer.next(wait, cancellation) }
      if case .ended(let result) = step {
        throw end(transfer, result, request.endpoint, lines.rest)
      }
      if case .data = step, try take(transfer, request, &lines, began, handler), isCreated {
        check = Deadline(after: timing.checking)
        continue
      }
      // Bytes without an answer are no sign of life.
      guard wait.hasPassed else { continue }
      guard isCreated else {
        throw Refusal(
          EtcdError(.unreachable, "\(request.endpoint.authority) does not answer"), .otherEndpoint)
      }
      guard !renewal.hasPassed, try isUseful(request) else { return }
      if missed == nil {
        try handler(EtcdEvents(header: EtcdHeader(revision: next - 1), events: []))
      }
      check = Deadline(after: timing.checking)
    }
  }

  /// Takes the answers that have arrived.
  ///
  /// - Returns: Whether there is one.
  private mutating func take(
    _ transfer: Transfer, _ request: HTTPRequest, _ lines: inout WatchLines,
    _ began: (EtcdHeader) throws -> Void, _ handler: (EtcdEvents) throws -> Void
  ) throws -> Bool {
    let complete = try refusing { () throws(EtcdError) in try lines.add(transfer.takeData()) }
    guard transfer.status == 200 else { return false }
    for line in complete {
      switch try WatchAnswer(line, keys, request.endpoint) {
      case .created(let header):
        isCreated = true
        try accept(header)
        accepted += 1
        if accepted == 1 { try began(header) }
      case .events(let events, let isFragment): try deliver(events, isFragment, handler)
      }
    }
    return !complete.isEmpty
  }

  private var body: [UInt8] {
    JSONWriter.object { writer in
      writer.object("create_request") { request in
        request.keys(keys)
        request.integer("start_revision", next)
        request.flag("progress_notify", true)
        request.flag("fragment", true)
      }
    }
  }

  /// Refuses a watch that begins in the future.
  ///
  /// It would leave out revisions that a restored cluster issues again. A member that is behind the others only looks like that.
  private func accept(_ header: EtcdHeader) throws(Refusal) {
    guard header.revision < next - 1 else { return }
    let revision = try refusing { () throws(EtcdError) in
      try caller.look(keys, patience, cancellation)
    }
    guard revision < next - 1 else { return }
    throw Refusal(
      EtcdError(
        .compacted, "the cluster is behind the revision to watch from; it was restored, perhaps"))
  }

  private mutating func deliver(
    _ answer: EtcdEvents, _ isFragment: Bool, _ handler: (EtcdEvents) throws -> Void
  ) throws {
    guard !answer.events.isEmpty else {
      next = max(next, answer.header.revision + 1)
      return try handler(answer)
    }
    var events = held + answer.events.filter { $0.row.modRevision >= next }
    held = []
    if isFragment, let last = events.last?.row.modRevision {
      let start = events.firstIndex { $0.row.modRevision == last } ?? 0
      held = Array(events[start...])
      events.removeSubrange(start...)
    }
    guard let last = events.last?.row.modRevision else { return }
    next = last + 1
    try handler(EtcdEvents(header: answer.header, events: events))
  }

  /// Checks a silent watch.
  ///
  /// One whose role was taken away, or whose connection swallows changes, only goes silent.
  ///
  /// - Returns: `false` if there is a new token, for which the watch must be renewed.
  private mutating func isUseful(_ request: HTTPRequest) throws(Refusal) -> Bool {
    if let missed, missed.revision >= next, missed.deadline.hasPassed {
      throw Refusal(
        EtcdError(
          .unreachable, "\(request.endpoint.authority) has changes that the watch does not deliver"),
        .otherEndpoint)
    }
    let change = try refusing { () throws(EtcdError) in
      try caller.change(of: keys, from: next, patience, cancellation)
    }
    if missed.map({ $0.revision < next }) ?? true { missed = change.map { ($0, patience) } }
    return try caller.token(patience, cancellation) === request.token
  }

  private func end(
    _ transfer: Transfer, _ result: UInt32, _ endpoint: EtcdConfiguration.Endpoint, _ rest: [UInt8]
  ) -> Refusal {
    if transfer.status != 0, transfer.status != 200 {
      let refusal = Refusal(HTTPAnswer(status: transfer.status, body: rest), endpoint)
      return Refusal(refusal.error.happening(false), refusal.remedy)
    }
    guard result != CLIBCURL_OK else {
      return Refusal(
        EtcdError(.unreachable, "\(endpoint.authority) ended the watch"), .otherEndpoint)
    }
    return Refusal(transfer.failure(result, endpoint), .otherEndpoint)
  }

  private func refusing<Result>(
    _ body: () throws(EtcdError) -> Result
  ) throws(Refusal) -> Result {
    do throws(EtcdError) { return try body() } catch {
      // A watch has no deadline: what does not answer in time isn't there.
      guard error.code == .timedOut else { throw Refusal(error.happening(false)) }
      throw Refusal(EtcdError(.unreachable, error.message), .otherEndpoint)
    }
  }
}
