internal import CLibcurl
internal import PrephirencesSystem

extension Transfer {
  /// Sends a request and reads the complete answer.
  ///
  /// - Throws: ``EtcdError``, which says whether the request may have been performed.
  func call(
    _ request: HTTPRequest, _ configuration: EtcdConfiguration, _ deadline: Deadline,
    _ cancellation: EtcdCancellation?
  ) throws(EtcdError) -> HTTPAnswer {
    try begin(request, configuration)
    defer { finish() }
    let result: UInt32
    do throws(EtcdError) {
      result = try end(request, configuration, deadline, cancellation)
    } catch { throw error.happening(hasSentAll) }
    guard result == CLIBCURL_OK else {
      let failure = failure(result, request.endpoint)
      // A certificate that is refused ends the handshake, before any request.
      guard failure.code != .certificate else { throw failure }
      let refusal =
        isCut(result) ? handshakeRefusal(request.endpoint, deadline, cancellation) : nil
      throw (refusal ?? failure).happening(hasSentAll)
    }
    hasWorked = true
    let status = status
    return HTTPAnswer(status: status, body: takeData())
  }

  private func end(
    _ request: HTTPRequest, _ configuration: EtcdConfiguration, _ deadline: Deadline,
    _ cancellation: EtcdCancellation?
  ) throws(EtcdError) -> UInt32 {
    var progress = -1
    var silence = deadline
    return try waking(by: cancellation) { () throws(EtcdError) in
      while true {
        if self.progress > progress {
          progress = self.progress
          silence = Deadline(after: configuration.timing.silence).limited(by: deadline)
        }
        // What is sent meanwhile ends no wait, so it is looked at now and then.
        let step = Deadline(after: .seconds(1)).limited(by: silence)
        switch try next(step, cancellation) {
        // An answer that never ends has no more time than others.
        case .data where deadline.hasPassed: throw .timedOut
        case .data: continue
        case .ended(let result): return result
        case .timedOut where deadline.hasPassed: throw .timedOut
        case .timedOut where self.progress > progress || !silence.hasPassed: continue
        case .timedOut:
          throw EtcdError(.unreachable, "\(request.endpoint.authority) does not answer")
        }
      }
    }
  }

  /// Whether a new connection was closed without an answer.
  private func isCut(_ result: UInt32) -> Bool {
    guard !hasWorked, status == 0 else { return false }
    return [
      CLIBCURL_TLS_FAILED, CLIBCURL_NO_ANSWER, CLIBCURL_SENDING_FAILED, CLIBCURL_RECEIVING_FAILED,
    ].contains(Int(result))
  }

  /// Finds out whether a member that closed a new connection has refused a certificate.
  ///
  /// In TLS 1.3, the handshake is over for the client when the member looks at its certificate, and
  /// the request that is on its way hides the reason. In TLS 1.2, the reason ends the handshake.
  ///
  /// - Returns: `nil` if that isn't the reason, or is not known.
  private func handshakeRefusal(
    _ endpoint: EtcdConfiguration.Endpoint, _ deadline: Deadline,
    _ cancellation: EtcdCancellation?
  ) -> EtcdError? {
    guard let configuration, configuration.usesTLS, let other = try? Transfer() else { return nil }
    let request = HTTPRequest(
      endpoint: endpoint, path: "/", body: [], answerLimit: 0, isHandshake: true)
    guard (try? other.begin(request, configuration)) != nil else { return nil }
    defer { other.finish() }
    let limit = Deadline(after: .seconds(2)).limited(by: deadline)
    guard let result = try? other.end(request, configuration, limit, cancellation),
      result != CLIBCURL_OK
    else { return nil }
    let failure = other.failure(result, endpoint)
    return failure.code == .certificate ? failure : nil
  }

  /// Runs code that a cancellation wakes.
  func waking<Result, Failure: Error>(
    by cancellation: EtcdCancellation?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let cancellation else { return try body() }
    return try cancellation.waking(by: { self.wake() }, body)
  }
}
