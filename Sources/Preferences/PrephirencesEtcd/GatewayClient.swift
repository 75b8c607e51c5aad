internal import Glibc
internal import PrephirencesSystem
internal import Synchronization

/// Sends requests to the endpoints in turn, and logs in.
final class GatewayClient: Sendable {
  /// Whether a request may be sent again although it may have been performed.
  enum Effect {
    case none
    case change
  }

  let configuration: EtcdConfiguration
  let login = Login()
  private let pool = TransferPool()
  /// The index of the endpoint that is asked first: the last one that answered.
  private let first: Atomic<Int>

  init(_ configuration: EtcdConfiguration) {
    self.configuration = configuration
    // A random start spreads the machines of a fleet over the members.
    first = Atomic(Int.random(in: 0..<max(configuration.endpoints.count, 1)))
  }

  /// Sends a request until it is answered or finally refused.
  func call<Answer>(
    _ path: String, _ body: [UInt8], _ effect: Effect, _ limits: CallLimits,
    read: (JSONValue) throws -> Answer
  ) throws -> Answer {
    // Checked before any lock: a fork may have left it locked.
    try ForkMark.etcd.check(EtcdError.forked)
    var attempts = RetryPolicy(configuration)
    while true {
      var token: Token?
      do {
        let endpoint = try endpoint()
        token = try self.token(limits)
        let request = HTTPRequest(
          endpoint: endpoint, path: path, token: token, body: body,
          answerLimit: configuration.answerLimit)
        let answer = try pool.with(limits) { transfer in
          try self.answer(to: request, on: transfer, limits, read)
        }
        if token == nil { login.isWithoutAuthentication = true }
        login.confirm(token)
        return answer
      } catch let error as EtcdError {
        let failure = effect == .none ? error.happening(false) : error
        switch error.remedy {
        case .newLogin: login.forget(token)
        case .otherEndpoint, .later: skipEndpoint()
        case .none, .noLogin: break
        }
        if error.isSilence || attempts.endsRound(error) { login.doubt(token) }
        guard !failure.mayHaveHappened else { throw failure }
        try attempts.allow(failure, limits)
      }
    }
  }

  private func answer<Answer>(
    to request: HTTPRequest, on transfer: Transfer, _ limits: CallLimits,
    _ read: (JSONValue) throws -> Answer
  ) throws -> Answer {
    let answer = try EtcdError.mapping(\.ofTransport) {
      try transfer.call(request, configuration, limits)
    }
    guard answer.status == 200 else { throw EtcdError(answer, request.endpoint) }
    return try EtcdError.mapping {
      $0.happening(true).helped(by: .otherEndpoint)
    } of: {
      try read(JSONValue(answer: answer.body))
    }
  }

  func endpoint() throws -> EtcdConfiguration.Endpoint {
    let endpoints = configuration.endpoints
    guard !endpoints.isEmpty else { throw EtcdError.address("it names no host") }
    return endpoints[first.load(ordering: .relaxed) % endpoints.count]
  }

  /// Asks another endpoint in the next call.
  func skipEndpoint() {
    let count = max(configuration.endpoints.count, 1)
    first.store((first.load(ordering: .relaxed) + 1) % count, ordering: .relaxed)
  }

  /// Returns the token, or `nil` if the cluster needs no login or there is no user.
  func token(_ limits: CallLimits) throws -> Token? {
    guard let user = configuration.user, configuration.password != nil else { return nil }
    return try login.token(keptFor: configuration.timing.keepingToken, limits) {
      try authenticate(user, limits)
    }
  }

  /// Logs in over its own connection, whose memory had the password.
  private func authenticate(_ user: String, _ limits: CallLimits) throws -> Token? {
    var request = HTTPRequest(
      endpoint: try endpoint(), path: "/v3/auth/authenticate", body: try credentials(user),
      answerLimit: 65536)
    defer { request.body.wipe() }
    var answer = try EtcdError.mapping {
      $0.happening(false).ofTransport
    } of: {
      try Transfer().call(request, configuration, limits)
    }
    defer { answer.body.wipe() }
    guard answer.status == 200 else {
      let refusal = EtcdError(answer, request.endpoint)
      // The login failed, so the request was never sent.
      guard refusal.remedy == .noLogin else { throw refusal.happening(false) }
      login.isWithoutAuthentication = true
      return nil
    }
    return try EtcdError.mapping {
      $0.helped(by: .otherEndpoint)
    } of: {
      guard let text = try JSONValue(answer: answer.body)["token"] else {
        throw EtcdError.malformed
      }
      let token = try Token(Array(text.string().utf8))
      login.isWithoutAuthentication = false
      return token
    }
  }

  private func credentials(_ user: String) throws -> [UInt8] {
    var password: [UInt8]
    do { password = try configuration.password?() ?? [] } catch let error as EtcdError {
      throw error
    } catch {
      // The text of the error could contain the password.
      throw EtcdError(.passwordUnavailable, "the password for etcd cannot be read")
    }
    defer { password.wipe() }
    guard !password.isEmpty, String(validating: password, as: UTF8.self) != nil else {
      throw EtcdError(.passwordUnavailable, "the password for etcd is empty or no UTF-8")
    }
    // Not by a value, which would leave copies of the password.
    var body: [UInt8] = []
    body.reserveCapacity(64 + 6 * (user.utf8.count + password.count))
    body += "{\"name\":".utf8
    JSONValue.append(user.utf8, to: &body)
    body += ",\"password\":".utf8
    JSONValue.append(password, to: &body)
    body.append(UInt8(ascii: "}"))
    return body
  }
}

extension GatewayClient {
  func range(
    _ keys: EtcdKeys, _ limits: CallLimits, _ options: [JSONValue.Field]
  ) throws -> EtcdRangeAnswer {
    let body = JSONValue.fields(keys.fields + options).body
    return try call("/v3/kv/range", body, .none, limits) {
      try $0.rangeAnswer(of: keys)
    }
  }

  /// Reads as little as possible of some keys, to see whether they may be read.
  func look(_ keys: EtcdKeys, _ limits: CallLimits) throws -> Int64 {
    try look(keys, from: 0, limits).header.revision
  }

  /// Returns the revision of a key that was changed at or after a revision, or `nil` if there is
  /// none.
  func change(of keys: EtcdKeys, from revision: Int64, _ limits: CallLimits) throws -> Int64? {
    // The cluster reads all rows for this search, so first see whether anything has changed.
    guard try look(keys, limits) >= revision else { return nil }
    return try look(keys, from: revision, limits).rows.first?.modRevision
  }

  private func look(
    _ keys: EtcdKeys, from revision: Int64, _ limits: CallLimits
  ) throws -> EtcdRangeAnswer {
    try range(
      keys, limits,
      [
        ("limit", .integer(1)), ("min_mod_revision", .integer(revision)),
        ("keys_only", .bool(true)),
      ])
  }
}

/// The token of a client: one thread logs in while others wait.
final class Login: Sendable {
  private enum State {
    case none
    case pending([Latch])
    case done(Known)
  }

  private struct Known {
    let token: Token?
    let begin = ContinuousClock.now
    var lastUse = ContinuousClock.now
    /// Whether a request with the token was answered.
    var hasWorked = false
  }

  private enum Turn {
    case mine
    case others(Latch)
    case done(Token?)
  }

  private struct Knowledge {
    var state = State.none
    var isWithoutAuthentication: Bool?
  }

  private let knowledge = PosixMutex(Knowledge())

  var isWithoutAuthentication: Bool? {
    get { knowledge.withLock { $0.isWithoutAuthentication } }
    set { knowledge.withLock { $0.isWithoutAuthentication = newValue } }
  }

  /// Returns the token, or calls `logIn` for one; `nil` if none is needed.
  func token(
    keptFor duration: Duration, _ limits: CallLimits,
    logIn: () throws -> Token?
  ) throws -> Token? {
    while true {
      switch turn(keptFor: duration) {
      case .done(let token): return token
      case .others(let waiting):
        guard try waiting.wait(limits) else { throw EtcdError.timedOut }
      case .mine:
        var state = State.none
        defer { finish(state) }
        let token = try logIn()
        state = .done(Known(token: token))
        return token
      }
    }
  }

  /// Forgets a token that is no longer accepted, unless it was replaced already.
  func forget(_ token: Token?) { forget(token) { _ in true } }

  /// Forgets a token that may be the reason for a missing answer.
  ///
  /// A member waits for the raft index of a token. If the member was restored from a snapshot and
  /// the token is newer, it waits for ever. Slow or unreachable members must not cause repeated
  /// logins, so a token is forgotten once after it has worked, and then once a minute.
  func doubt(_ token: Token?) {
    guard token != nil else { return }
    forget(token) { $0.hasWorked || $0.begin.duration(to: .now) > .seconds(60) }
  }

  /// Records that a request with the token was answered.
  func confirm(_ token: Token?) {
    knowledge.withLock { knowledge in
      guard case .done(var known) = knowledge.state, known.token === token, !known.hasWorked
      else { return }
      known.hasWorked = true
      knowledge.state = .done(known)
    }
  }

  private func forget(_ token: Token?, if condition: (Known) -> Bool) {
    knowledge.withLock { knowledge in
      if case .done(let known) = knowledge.state, known.token === token, condition(known) {
        knowledge.state = .none
      }
    }
  }

  private func turn(keptFor duration: Duration) -> Turn {
    knowledge.withLock { knowledge in
      switch knowledge.state {
      case .pending(let latches):
        let waiting = Latch()
        knowledge.state = .pending(latches + [waiting])
        return .others(waiting)
      case .done(var known)
      where known.token == nil || known.lastUse.duration(to: .now) < duration:
        known.lastUse = .now
        knowledge.state = .done(known)
        return .done(known.token)
      case .none, .done:
        knowledge.state = .pending([])
        return .mine
      }
    }
  }

  private func finish(_ state: State) {
    let latches = knowledge.withLock { knowledge -> [Latch] in
      defer { knowledge.state = state }
      if case .pending(let latches) = knowledge.state { return latches }
      return []
    }
    for waiting in latches { waiting.end() }
  }
}

extension [UInt8] {
  /// Overwrites the bytes, if nobody else has them.
  mutating func wipe() {
    unsafe withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe explicit_bzero(start, bytes.count)
    }
  }
}
