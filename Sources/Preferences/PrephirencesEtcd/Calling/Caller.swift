internal import PrephirencesSystem
internal import Synchronization

/// Sends requests to the endpoints in turn, with a login.
final class Caller: Sendable {
  /// Whether a request may be sent again though it may have been performed.
  enum Effect {
    case none
    case change
  }

  let configuration: EtcdConfiguration
  let login = Login()
  private let pool = TransferPool()
  /// The number of the endpoint that is asked first: the last one that answered.
  private let first: Atomic<Int>

  init(_ configuration: EtcdConfiguration) {
    self.configuration = configuration
    // So that not all machines of a fleet ask the same member.
    first = Atomic(Int.random(in: 0..<max(configuration.endpoints.count, 1)))
  }

  /// Sends a request until it is answered, or refused for good.
  func call<Answer>(
    _ path: String, _ body: [UInt8], _ effect: Effect, _ deadline: Deadline,
    _ cancellation: EtcdCancellation?, read: (JSONValue) throws(EtcdError) -> Answer
  ) throws(EtcdError) -> Answer {
    // Before any lock, which a fork may have left locked.
    try ForkGuard.check()
    var attempts = Attempts(configuration.endpoints.count)
    while true {
      var token: Token?
      do throws(Refusal) {
        let endpoint = try endpoint()
        token = try self.token(deadline, cancellation)
        let request = HTTPRequest(
          endpoint: endpoint, path: path, token: token, body: body,
          answerLimit: configuration.answerLimit)
        let answer = try pool.with(deadline, cancellation, failure: Refusal.init(transport:)) {
          transfer throws(Refusal) in
          try self.answer(to: request, on: transfer, deadline, cancellation, read)
        }
        if token == nil { login.isWithoutAuthentication = true }
        login.confirm(token)
        return answer
      } catch {
        let failure = effect == .none ? error.error.happening(false) : error.error
        switch error.remedy {
        case .newLogin: login.forget(token)
        case .otherEndpoint, .later: skipEndpoint()
        case .none, .noLogin: break
        }
        if error.isSilence || attempts.endsRound(error) { login.doubt(token) }
        guard !failure.mayHaveHappened else { throw failure }
        try attempts.allow(Refusal(failure, error.remedy), deadline, cancellation)
      }
    }
  }

  private func answer<Answer>(
    to request: HTTPRequest, on transfer: Transfer, _ deadline: Deadline,
    _ cancellation: EtcdCancellation?, _ read: (JSONValue) throws(EtcdError) -> Answer
  ) throws(Refusal) -> Answer {
    let answer: HTTPAnswer
    do throws(EtcdError) {
      answer = try transfer.call(request, configuration, deadline, cancellation)
    } catch { throw Refusal(transport: error) }
    guard answer.status == 200 else { throw Refusal(answer, request.endpoint) }
    do throws(EtcdError) { return try read(JSONReader.read(answer.body)) } catch {
      throw Refusal(error.happening(true), .otherEndpoint)
    }
  }

  /// Returns the endpoint to ask.
  func endpoint() throws(Refusal) -> EtcdConfiguration.Endpoint {
    let endpoints = configuration.endpoints
    guard !endpoints.isEmpty else { throw Refusal(.address("it names no host")) }
    return endpoints[first.load(ordering: .relaxed) % endpoints.count]
  }

  /// Asks another endpoint next.
  func skipEndpoint() {
    let count = max(configuration.endpoints.count, 1)
    first.store((first.load(ordering: .relaxed) + 1) % count, ordering: .relaxed)
  }

  /// Returns the token; `nil` if the cluster lets everybody in, or no name is known.
  func token(
    _ deadline: Deadline, _ cancellation: EtcdCancellation?
  ) throws(Refusal) -> Token? {
    guard let user = configuration.user, configuration.password != nil else { return nil }
    return try login.token(
      keptFor: configuration.timing.keepingToken, deadline, cancellation
    ) { () throws(Refusal) in
      try authenticate(user, deadline, cancellation)
    }
  }

  /// Logs in, on a connection of its own, whose memory had the password.
  private func authenticate(
    _ user: String, _ deadline: Deadline, _ cancellation: EtcdCancellation?
  ) throws(Refusal) -> Token? {
    var request = HTTPRequest(
      endpoint: try endpoint(), path: "/v3/auth/authenticate", body: try credentials(user),
      answerLimit: 65536)
    defer { request.body.wipe() }
    var answer: HTTPAnswer
    do throws(EtcdError) {
      answer = try Transfer().call(request, configuration, deadline, cancellation)
    } catch { throw Refusal(transport: error.happening(false)) }
    defer { answer.body.wipe() }
    guard answer.status == 200 else {
      let refusal = Refusal(answer, request.endpoint)
      // What comes after the login was not sent.
      guard refusal.remedy == .noLogin else {
        throw Refusal(refusal.error.happening(false), refusal.remedy)
      }
      login.isWithoutAuthentication = true
      return nil
    }
    do throws(EtcdError) {
      guard let text = try JSONReader.read(answer.body)["token"] else { throw EtcdError.malformed }
      let token = try Token(Array(text.string().utf8))
      login.isWithoutAuthentication = false
      return token
    } catch { throw Refusal(error, .otherEndpoint) }
  }

  private func credentials(_ user: String) throws(Refusal) -> [UInt8] {
    var password: [UInt8]
    do { password = try configuration.password?() ?? [] } catch let error as EtcdError {
      throw Refusal(error)
    } catch {
      // Its text could contain the password.
      throw Refusal(EtcdError(.passwordUnavailable, "the password for etcd cannot be read"))
    }
    defer { password.wipe() }
    guard !password.isEmpty, String(validating: password, as: UTF8.self) != nil else {
      throw Refusal(EtcdError(.passwordUnavailable, "the password for etcd is empty or no UTF-8"))
    }
    return JSONWriter.object { writer in
      writer.text("name", user.utf8)
      writer.text("password", password)
    }
  }
}
