internal import CPrephirencesLibcurl
internal import PrephirencesSystem
internal import SystemPackage

/// The watches of a client: one thread reads one connection for all of them.
///
/// An open connection accepts no further watches (HTTP/1.1). A new watch therefore needs a new
/// connection with all of them, each from its own next revision.
final class WatchHub: Sendable {
  /// The pause between two connections, so that watches that start together share one.
  private static let rest: Duration = .milliseconds(100)

  private struct State {
    var watches: [WatchSubscription] = []
    var hasThread = false
    /// Ends the present connection.
    var interruption = EtcdCancellation()
    /// Whether all watches of the connection were answered: it is not interrupted before.
    var isFollowing = false
    /// Whether another connection is needed.
    var isOutdated = false
    var token: Token?
  }

  private let gateway: GatewayClient
  private let state = PosixMutex(State())

  init(_ gateway: GatewayClient) { self.gateway = gateway }

  // MARK: - Threads that watch

  func add(_ watch: WatchSubscription) {
    let (interruption, needsThread) = state.withLock { state in
      state.watches.append(watch)
      state.isOutdated = true
      defer { state.hasThread = true }
      return (state.isFollowing ? state.interruption : nil, !state.hasThread)
    }
    interruption?.cancel()
    guard needsThread else { return }
    do throws(Errno) {
      try DetachedThread.start(named: "prefs-watch") { self.run() }
    } catch {
      let left = state.withLock { state in
        state.hasThread = false
        defer { state.watches = [] }
        return state.watches
      }
      for watch in left { watch.end(.noThread(error)) }
    }
  }

  func remove(_ watch: WatchSubscription) {
    let interruption = state.withLock { state in
      state.watches.removeAll { $0 === watch }
      return state.watches.isEmpty ? state.interruption : nil
    }
    interruption?.cancel()
  }

  /// Renews the connection unless it uses this token.
  func renew(with token: Token?) {
    let interruption: EtcdCancellation? = state.withLock { state in
      guard state.isFollowing, state.token !== token else { return nil }
      state.isOutdated = true
      return state.interruption
    }
    interruption?.cancel()
  }

  // MARK: - The thread of the connection

  private func run() {
    var attempts = RetryPolicy(gateway.configuration)
    var rest = Deadline(after: .zero)
    while next() != nil {
      if !rest.hasPassed { _ = try? Latch().wait(CallLimits(rest)) }
      // Includes the watches that were added meanwhile.
      guard let (watches, interruption) = next() else { return }
      rest = Deadline(after: Self.rest)
      connect(watches, interruption, &attempts)
    }
  }

  /// Returns the watches of the next connection, or `nil` if the thread ends.
  private func next() -> ([WatchSubscription], EtcdCancellation)? {
    state.withLock { state in
      state.watches.removeAll(where: \.hasEnded)
      (state.isFollowing, state.isOutdated) = (false, false)
      guard !state.watches.isEmpty else {
        state.hasThread = false
        return nil
      }
      state.interruption = EtcdCancellation()
      return (state.watches, state.interruption)
    }
  }

  private func follow(_ token: Token?) -> Bool {
    state.withLock { state in
      (state.isFollowing, state.token) = (true, token)
      return !state.isOutdated
    }
  }

  private func connect(
    _ watches: [WatchSubscription], _ interruption: EtcdCancellation, _ attempts: inout RetryPolicy
  ) {
    var connection = WatchConnection(gateway, watches, interruption)
    do {
      return try connection.run(follow)
    } catch {
      let error = EtcdError(any: error)
      guard !interruption.isCancelled else { return }
      if connection.created > 0 {
        attempts = RetryPolicy(gateway.configuration)
        gateway.login.confirm(connection.token)
      }
      if error.remedy == .newLogin {
        gateway.login.forget(connection.token)
      } else {
        gateway.skipEndpoint()
        gateway.login.doubt(connection.token)
        // Only the threads of these watches know what was missed.
        for watch in watches where watch.hasBegun { watch.end(error) }
      }
      let limits = CallLimits(Deadline(after: gateway.configuration.timing.silence), interruption)
      do { try attempts.allow(error, limits) } catch {
        guard !interruption.isCancelled else { return }
        let error = EtcdError(any: error)
        for watch in watches { watch.end(error) }
        attempts = RetryPolicy(gateway.configuration)
      }
    }
  }
}

extension EtcdError {
  /// The thrown failure: this module throws no other errors.
  fileprivate init(any error: any Error) { self = error as? EtcdError ?? .malformed }

  fileprivate static func noThread(_ error: Errno) -> EtcdError {
    EtcdError(.unreachable, "no thread can be started for the watch: \(error.wordsOfThread)")
  }
}

/// One watch of a connection, with what has arrived until its thread takes it.
final class WatchSubscription: Sendable {
  enum Item {
    /// The server has accepted the watch on a connection.
    case created(EtcdHeader)
    case events(EtcdEvents)
  }

  let keys: EtcdKeys

  /// The most that may wait, in bytes; beyond it, reading everything again is cheaper.
  static let greatestSize = 8 << 20

  fileprivate struct State {
    var items: [Item] = []
    var size = 0
    /// The first revision that has not arrived.
    var next: Int64
    /// The first part of a revision whose rest follows.
    var held: [EtcdEvents.Event] = []
    var hasBegun = false
    var end: EtcdError?
  }

  private let state: PosixMutex<State>
  private let arrival = Latch()

  init(_ keys: EtcdKeys, from revision: Int64) {
    self.keys = keys
    state = PosixMutex(State(next: revision))
  }

  // MARK: - The thread that watches

  /// Waits until something has arrived, and takes all of it.
  func take(_ limits: CallLimits) throws -> [Item] {
    while true {
      // Checked before the lock: a fork may have left it locked.
      try ForkMark.etcd.check(EtcdError.forked)
      let (items, end) = state.withLock { state in
        defer { (state.items, state.size) = ([], 0) }
        return (state.items, state.end)
      }
      if !items.isEmpty { return items }
      if let end { throw end }
      guard try arrival.wait(limits) else { return [] }
    }
  }

  // MARK: - The thread of the connection

  /// Whether the server has ever accepted the watch: only its thread knows what it misses from then
  /// on.
  var hasBegun: Bool { state.withLock { $0.hasBegun } }

  var hasEnded: Bool { state.withLock { $0.end != nil } }

  /// Returns the revision from which a new connection watches.
  func restart() -> Int64 {
    state.withLock { state in
      state.held = []
      return state.next
    }
  }

  func begin(_ header: EtcdHeader) {
    state.withLock { state in
      state.hasBegun = true
      state.items.append(.created(header))
    }
    arrival.end()
  }

  func end(_ error: EtcdError) {
    state.withLock { state in
      if state.end == nil { state.end = error }
    }
    arrival.end()
  }

  func add(_ answer: EtcdEvents, isFragment: Bool) {
    let isNew = state.withLock { state in
      guard state.end == nil, let answer = state.complete(answer, isFragment) else { return false }
      let size = answer.events.reduce(0) { $0 + $1.row.key.count + $1.row.value.count + 100 }
      if !state.items.isEmpty, state.size + size > Self.greatestSize {
        (state.items, state.size) = ([], 0)
        state.end = EtcdError(.compacted, "changes came faster than they were taken")
        return true
      }
      state.items.append(.events(answer))
      state.size += size
      return true
    }
    if isNew { arrival.end() }
  }
}

extension WatchSubscription.State {
  /// Returns the revisions that an answer completes.
  fileprivate mutating func complete(_ answer: EtcdEvents, _ isFragment: Bool) -> EtcdEvents? {
    guard !answer.events.isEmpty else {
      next = max(next, answer.header.revision + 1)
      return answer
    }
    var events = held + answer.events.filter { $0.row.modRevision >= next }
    held = []
    if isFragment, let last = events.last?.row.modRevision {
      let start = events.firstIndex { $0.row.modRevision == last } ?? 0
      held = Array(events[start...])
      events.removeSubrange(start...)
    }
    guard let last = events.last?.row.modRevision else { return nil }
    next = last + 1
    return EtcdEvents(header: answer.header, events: events)
  }
}

/// One connection with several watches.
struct WatchConnection {
  let gateway: GatewayClient
  let watches: [WatchSubscription]
  let interruption: EtcdCancellation

  /// How many watches the server has answered; it keeps the order of the requests.
  private(set) var created = 0
  /// The watches by the server's numbers: a proxy ignores those that a client asks for.
  private var numbered: [Int64: WatchSubscription] = [:]
  private(set) var token: Token?

  init(_ gateway: GatewayClient, _ watches: [WatchSubscription], _ interruption: EtcdCancellation) {
    self.gateway = gateway
    self.watches = watches
    self.interruption = interruption
  }

  private var timeout: Deadline { Deadline(after: gateway.configuration.timing.silence) }

  /// Watches until the connection should be renewed.
  mutating func run(_ follow: (Token?) -> Bool) throws {
    let endpoint = try gateway.endpoint()
    token = try gateway.token(CallLimits(timeout, interruption))
    let request = HTTPRequest(
      endpoint: endpoint, path: "/v3/watch", token: token, body: body,
      answerLimit: WatchLines.limit, endsConnection: true)
    let transfer = try refusing { try Transfer() }
    try refusing { try transfer.begin(request, gateway.configuration) }
    defer { transfer.finish() }
    try transfer.waking(by: interruption) {
      try read(transfer, endpoint, follow)
    }
  }

  private mutating func read(
    _ transfer: Transfer, _ endpoint: EtcdConfiguration.Endpoint, _ follow: (Token?) -> Bool
  ) throws {
    let renewal = Deadline(after: gateway.configuration.timing.renewing)
    var lines = WatchLines()
    var answering = timeout
    while true {
      let isComplete = created == watches.count
      let wait = isComplete ? renewal : answering
      let step = try refusing { try transfer.next(CallLimits(wait, interruption)) }
      if case .ended(let result) = step { throw end(transfer, result, endpoint, lines.rest) }
      if case .data = step {
        let complete = try refusing { try lines.add(transfer.takeData()) }
        if transfer.status == 200 {
          for line in complete { try take(WatchAnswer(line, endpoint)) }
          if !complete.isEmpty { answering = timeout }
          if !isComplete, created == watches.count, !follow(token) { return }
        }
      }
      // Bytes without an answer do not show that the member is alive.
      guard wait.hasPassed else { continue }
      if isComplete { return }
      guard answering.hasPassed else { continue }
      throw EtcdError(.unreachable, "\(endpoint.authority) does not answer", remedy: .otherEndpoint)
    }
  }

  private mutating func take(_ answer: WatchAnswer) throws {
    if answer.isCreated {
      guard created < watches.count else { throw EtcdError.malformed }
      let watch = watches[created]
      created += 1
      if let end = answer.end { return watch.end(end) }
      numbered[answer.number] = watch
      watch.begin(answer.header)
    }
    // A watch that ended on this side stays on the connection until it is renewed.
    guard let watch = numbered[answer.number] else { return }
    if let end = answer.end { return watch.end(end) }
    do {
      let events = try answer.events(of: watch.keys)
      if !answer.isCreated || !events.events.isEmpty {
        watch.add(events, isFragment: answer.isFragment)
      }
    } catch { watch.end(EtcdError(any: error)) }
  }

  private var body: [UInt8] {
    watches.flatMap { watch in
      let request = JSONValue.fields(
        watch.keys.fields + [
          ("start_revision", .integer(watch.restart())), ("progress_notify", .bool(true)),
          ("fragment", .bool(true)),
        ])
      return JSONValue.fields([("create_request", request)]).body
    }
  }

  private func end(
    _ transfer: Transfer, _ result: UInt32, _ endpoint: EtcdConfiguration.Endpoint, _ rest: [UInt8]
  ) -> EtcdError {
    if transfer.status != 0, transfer.status != 200 {
      let refusal = EtcdError(HTTPAnswer(status: transfer.status, body: rest), endpoint)
      return refusal.happening(false)
    }
    guard result != CLIBCURL_OK else {
      return EtcdError(
        .unreachable, "\(endpoint.authority) ended the watch", remedy: .otherEndpoint)
    }
    return transfer.failure(result, endpoint).helped(by: .otherEndpoint)
  }

  private func refusing<Result>(_ body: () throws -> Result) throws -> Result {
    // A watch has no deadline: a member that does not answer in time is unreachable.
    try EtcdError.mapping { error in
      error.code == .timedOut
        ? EtcdError(.unreachable, error.message, remedy: .otherEndpoint) : error.happening(false)
    } of: {
      try body()
    }
  }
}
