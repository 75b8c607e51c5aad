internal import CLibcurl
internal import PrephirencesSystem

/// One connection with several watches.
struct WatchConnection {
  let caller: Caller
  let watches: [WatchSubscription]
  let interruption: EtcdCancellation

  /// How many watches the server has answered: it does so in the order of the requests.
  private(set) var created = 0
  /// By the server's numbers; a proxy does not use those that a client asks for.
  private var numbered: [Int64: WatchSubscription] = [:]
  private(set) var token: Token?

  init(_ caller: Caller, _ watches: [WatchSubscription], _ interruption: EtcdCancellation) {
    self.caller = caller
    self.watches = watches
    self.interruption = interruption
  }

  private var patience: Deadline { Deadline(after: caller.configuration.timing.silence) }

  /// Watches until the connection should be renewed.
  ///
  /// - Parameter follow: Called when all watches are answered; returns whether to go on.
  /// - Throws: ``Refusal``.
  mutating func run(_ follow: (Token?) -> Bool) throws(Refusal) {
    let endpoint = try caller.endpoint()
    token = try caller.token(patience, interruption)
    let request = HTTPRequest(
      endpoint: endpoint, path: "/v3/watch", token: token, body: body,
      answerLimit: WatchLines.limit, endsConnection: true)
    let transfer = try refusing { () throws(EtcdError) in try Transfer() }
    try refusing { () throws(EtcdError) in try transfer.begin(request, caller.configuration) }
    defer { transfer.finish() }
    try transfer.waking(by: interruption) { () throws(Refusal) in
      try read(transfer, endpoint, follow)
    }
  }

  private mutating func read(
    _ transfer: Transfer, _ endpoint: EtcdConfiguration.Endpoint, _ follow: (Token?) -> Bool
  ) throws(Refusal) {
    let renewal = Deadline(after: caller.configuration.timing.renewing)
    var lines = WatchLines()
    var answering = patience
    while true {
      let isComplete = created == watches.count
      let wait = isComplete ? renewal : answering
      let step = try refusing { () throws(EtcdError) in try transfer.next(wait, interruption) }
      if case .ended(let result) = step { throw end(transfer, result, endpoint, lines.rest) }
      if case .data = step {
        let complete = try refusing { () throws(EtcdError) in try lines.add(transfer.takeData()) }
        if transfer.status == 200 {
          for line in complete { try take(WatchAnswer(line, endpoint)) }
          if !complete.isEmpty { answering = patience }
          if !isComplete, created == watches.count, !follow(token) { return }
        }
      }
      // Bytes without an answer are no sign of life.
      guard wait.hasPassed else { continue }
      if isComplete { return }
      guard answering.hasPassed else { continue }
      throw Refusal(
        EtcdError(.unreachable, "\(endpoint.authority) does not answer"), .otherEndpoint)
    }
  }

  private mutating func take(_ answer: WatchAnswer) throws(Refusal) {
    if answer.isCreated {
      guard created < watches.count else { throw Refusal(.malformed) }
      let watch = watches[created]
      created += 1
      if let end = answer.end { return watch.end(end) }
      numbered[answer.number] = watch
      watch.begin(answer.header)
    }
    // Others have ended on this side: they go with the connection.
    guard let watch = numbered[answer.number] else { return }
    if let end = answer.end { return watch.end(end) }
    do throws(EtcdError) {
      let events = try answer.events(of: watch.keys)
      if !answer.isCreated || !events.events.isEmpty {
        watch.add(events, isFragment: answer.isFragment)
      }
    } catch { watch.end(error) }
  }

  private var body: [UInt8] {
    watches.flatMap { watch in
      JSONWriter.object { writer in
        writer.object("create_request") { request in
          request.keys(watch.keys)
          request.integer("start_revision", watch.restart())
          request.flag("progress_notify", true)
          request.flag("fragment", true)
        }
      }
    }
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
