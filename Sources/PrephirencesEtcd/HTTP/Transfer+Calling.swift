internal import CLibcurl
internal import PrephirencesFiles

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
    do throws(EtcdError) {
      let result = try end(request, configuration, deadline, cancellation)
      guard result == CLIBCURL_OK else { throw failure(result, request.endpoint) }
    } catch {
      throw error.happening(hasSentAll && error.code != .certificate)
    }
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
        switch try next(silence, cancellation) {
        // An answer that never ends has no more time than others.
        case .data where deadline.hasPassed: throw .timedOut
        case .data: continue
        case .ended(let result): return result
        case .timedOut where deadline.hasPassed: throw .timedOut
        case .timedOut where self.progress > progress: continue
        case .timedOut:
          throw EtcdError(.unreachable, "\(request.endpoint.authority) does not answer")
        }
      }
    }
  }

  /// Runs code that a cancellation wakes.
  func waking<Result, Failure: Error>(
    by cancellation: EtcdCancellation?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let cancellation else { return try body() }
    return try cancellation.waking(by: { self.wake() }, body)
  }
}
