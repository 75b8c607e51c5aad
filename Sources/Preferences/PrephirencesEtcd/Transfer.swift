internal import CPrephirencesLibcurl
internal import Glibc
internal import PrephirencesSystem
internal import SystemPackage

/// A connection of libcurl, for one request at a time.
@safe
final class Transfer: @unchecked Sendable {
  // @unchecked Sendable because one thread at a time uses it; every thread may wake it.

  /// What ``next(_:_:)`` found.
  enum Step {
    case data
    case ended(result: UInt32)
    case timedOut
  }

  let library: Libcurl
  private let multi: UnsafeMutableRawPointer
  let easy: UnsafeMutableRawPointer
  let body: UnsafeMutablePointer<clibcurl_body>
  let answer: UnsafeMutablePointer<clibcurl_answer>
  let errorText: UnsafeMutableBufferPointer<CChar>
  private var sending: UnsafeMutableBufferPointer<UInt8>?
  private var headers: OpaquePointer?
  private var isActive = false
  private var seen = 0
  private(set) var configuration: EtcdConfiguration?
  /// Whether an answer came over the connection.
  var hasWorked = false

  init() throws {
    ForkMark.etcd.set()
    try ForkMark.etcd.check(EtcdError.forked)
    let made = unsafe try ExitGate.shared.pass {
      let library = try Libcurl.shared()
      guard let easy = library.functions.curl_easy_init() else { throw EtcdError.noMemory }
      guard let multi = library.functions.curl_multi_init() else {
        unsafe library.functions.curl_easy_cleanup(easy)
        throw EtcdError.noMemory
      }
      _ = unsafe clibcurl_limit_connections(library.table, multi, 1)
      return unsafe (library: library, easy: easy, multi: multi)
    }
    library = unsafe made.library
    unsafe easy = unsafe made.easy
    unsafe multi = unsafe made.multi
    // Allocated last: a failure above would not run `deinit`.
    unsafe body = .allocate(capacity: 1)
    unsafe answer = .allocate(capacity: 1)
    unsafe errorText = .allocate(capacity: Int(CLIBCURL_ERROR_SIZE))
    unsafe body.initialize(to: clibcurl_body())
    unsafe answer.initialize(to: clibcurl_answer())
    unsafe errorText.initialize(repeating: 0)
  }

  deinit {
    // A connection of the parent process must stay open for it.
    guard !ForkMark.etcd.isForked else { return }
    finish()
    // When the process exits, the system closes the connection.
    try? ExitGate.shared.pass {
      unsafe library.functions.curl_easy_cleanup(easy)
      _ = unsafe library.functions.curl_multi_cleanup(multi)
    }
    unsafe body.deallocate()
    unsafe answer.deallocate()
    unsafe errorText.deallocate()
  }

  /// Ends ``next(_:_:)`` on another thread.
  func wake() {
    _ = unsafe library.functions.curl_multi_wakeup(multi)
  }

  /// Begins a request, which ``finish()`` ends.
  func begin(_ request: HTTPRequest, _ configuration: EtcdConfiguration) throws {
    try ForkMark.etcd.check(EtcdError.forked)
    finish()
    self.configuration = configuration
    try ExitGate.shared.pass { try prepare(request, configuration) }
  }

  private func prepare(_ request: HTTPRequest, _ configuration: EtcdConfiguration) throws {
    unsafe library.functions.curl_easy_reset(easy)
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: request.body.count)
    _ = unsafe copy.initialize(from: request.body)
    unsafe sending = unsafe copy
    unsafe body.pointee = unsafe clibcurl_body(
      bytes: UnsafePointer(copy.baseAddress), count: copy.count, sent: 0)
    unsafe answer.pointee.limit = request.answerLimit
    unsafe headers = unsafe try makeHeaders(request)
    var options = unsafe TransferOptions(library, easy)
    options.connect(to: request, configuration)
    options.secure(configuration, isHandshake: request.isHandshake)
    unsafe options.exchange(headers: headers, body: body, answer: answer, error: errorText)
    guard options.result == CLIBCURL_OK else { throw EtcdError.option(options.result, library) }
    guard unsafe library.functions.curl_multi_add_handle(multi, easy) == 0 else {
      throw EtcdError.noMemory
    }
    isActive = true
  }

  /// Waits for data or the end of the answer.
  func next(_ limits: CallLimits) throws -> Step {
    while true {
      try limits.cancellation.check()
      try ForkMark.etcd.check(EtcdError.forked)
      try ExitGate.shared.pass {
        var running: CInt = 0
        guard unsafe library.functions.curl_multi_perform(multi, &running) == 0 else {
          throw EtcdError.noMemory
        }
      }
      if unsafe answer.pointee.count > seen {
        seen = unsafe answer.pointee.count
        return .data
      }
      var result: UInt32 = 0
      if unsafe clibcurl_ended(library.table, multi, &result) != 0 { return .ended(result: result) }
      if limits.deadline.hasPassed { return .timedOut }
      let failure = try ExitGate.shared.pass(wakingBy: { self.wake() }) {
        unsafe library.functions.curl_multi_poll(multi, nil, 0, limits.deadline.milliseconds, nil)
      }
      guard failure == 0 else { throw EtcdError.noMemory }
    }
  }

  /// Returns and forgets the received data.
  func takeData() -> [UInt8] {
    guard let bytes = unsafe answer.pointee.bytes else { return [] }
    let data = unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: answer.pointee.count))
    unsafe clibcurl_clear_answer(answer)
    seen = 0
    return data
  }

  var status: Int { unsafe clibcurl_status(library.table, easy) }

  /// Whether libcurl has the whole request, so that etcd may have performed it.
  var hasSentAll: Bool { unsafe body.pointee.sent == body.pointee.count }

  /// The number of bytes sent and received.
  var progress: Int { unsafe body.pointee.sent + answer.pointee.count }

  /// Ends a request, and closes the connection if it is not complete.
  func finish() {
    if isActive {
      _ = try? ExitGate.shared.pass {
        unsafe library.functions.curl_multi_remove_handle(multi, easy)
      }
    }
    isActive = false
    if let made = unsafe headers { unsafe clibcurl_free_list(library.table, made) }
    unsafe headers = nil
    if let sending = unsafe sending, let start = sending.baseAddress {
      unsafe explicit_bzero(start, sending.count)
      unsafe sending.deallocate()
    }
    unsafe sending = nil
    unsafe clibcurl_clear_answer(answer)
    seen = 0
  }

  private func makeHeaders(_ request: HTTPRequest) throws -> OpaquePointer? {
    var made: OpaquePointer?
    func add(_ header: UnsafePointer<CChar>) -> OpaquePointer? {
      guard let longer = unsafe library.functions.curl_slist_append(made, header) else {
        return nil
      }
      unsafe made = unsafe longer
      return unsafe longer
    }
    // A member without a leader refuses the request; an empty `Expect` saves a round trip.
    for header in [
      "Content-Type: application/json", "Accept: application/json", "Expect:",
      "Grpc-Metadata-hasleader: true",
    ] + (request.endsConnection ? ["Connection: close"] : []) where unsafe add(header) == nil {
      unsafe clibcurl_free_list(library.table, made)
      throw EtcdError.noMemory
    }
    if let token = request.token, unsafe token.withHeader({ unsafe add($0) }) == nil {
      unsafe clibcurl_free_list(library.table, made)
      throw EtcdError.noMemory
    }
    return unsafe made
  }
}

extension EtcdError {
  static var noMemory: EtcdError {
    guard Errno.hasNoDescriptor else {
      return EtcdError(.noLibrary, "libcurl has no memory for a connection")
    }
    return EtcdError(.unreachable, "there is no connection: \(Errno.tooManyOpenFiles.words)")
  }

  static func option(_ result: UInt32, _ library: Libcurl) -> EtcdError {
    EtcdError(
      .noLibrary, "libcurl lacks what a connection to etcd needs: \(library.words(of: result))")
  }
}

extension Transfer {
  func call(
    _ request: HTTPRequest, _ configuration: EtcdConfiguration, _ limits: CallLimits
  ) throws -> HTTPAnswer {
    try begin(request, configuration)
    defer { finish() }
    let result = try EtcdError.mapping {
      $0.happening(hasSentAll)
    } of: {
      try end(request, configuration, limits)
    }
    guard result == CLIBCURL_OK else {
      let failure = failure(result, request.endpoint)
      // A refused certificate ends the handshake, before any request.
      guard failure.code != .certificate else { throw failure }
      let refusal =
        isCut(result) ? handshakeRefusal(request.endpoint, limits) : nil
      throw (refusal ?? failure).happening(hasSentAll)
    }
    hasWorked = true
    let status = status
    return HTTPAnswer(status: status, body: takeData())
  }

  private func end(
    _ request: HTTPRequest, _ configuration: EtcdConfiguration, _ limits: CallLimits
  ) throws -> UInt32 {
    var progress = -1
    var silence = limits.deadline
    return try waking(by: limits.cancellation) {
      while true {
        if self.progress > progress {
          progress = self.progress
          silence = Deadline(after: configuration.timing.silence).limited(by: limits.deadline)
        }
        // Sent bytes do not end the wait, so check for them each second.
        let step = Deadline(after: .seconds(1)).limited(by: silence)
        switch try next(limits.within(step)) {
        // An endless answer must respect the deadline, too.
        case .data where limits.deadline.hasPassed: throw EtcdError.timedOut
        case .data: continue
        case .ended(let result): return result
        case .timedOut where limits.deadline.hasPassed: throw EtcdError.timedOut
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

  /// Finds out whether a member that closed a new connection has refused the certificate.
  ///
  /// In TLS 1.3, the client's handshake is over when the member checks its certificate, and the
  /// request that is on its way hides the reason. In TLS 1.2, the handshake ends with the reason.
  private func handshakeRefusal(
    _ endpoint: EtcdConfiguration.Endpoint, _ limits: CallLimits
  ) -> EtcdError? {
    guard let configuration, configuration.usesTLS, let other = try? Transfer() else { return nil }
    let request = HTTPRequest(
      endpoint: endpoint, path: "/", body: [], answerLimit: 0, isHandshake: true)
    guard (try? other.begin(request, configuration)) != nil else { return nil }
    defer { other.finish() }
    let limits = limits.within(Deadline(after: .seconds(2)))
    guard let result = try? other.end(request, configuration, limits),
      result != CLIBCURL_OK
    else { return nil }
    let failure = other.failure(result, endpoint)
    return failure.code == .certificate ? failure : nil
  }

  /// Runs code that a cancellation wakes.
  func waking<Result>(
    by cancellation: EtcdCancellation?, _ body: () throws -> Result
  ) rethrows -> Result {
    guard let cancellation else { return try body() }
    return try cancellation.waking(by: { self.wake() }, body)
  }
}

extension Transfer {
  /// Explains a result of libcurl.
  func failure(_ result: UInt32, _ endpoint: EtcdConfiguration.Endpoint) -> EtcdError {
    let place = endpoint.authority
    let reason = reason(result)
    let files = configuration.map(CertificateFiles.init)
    if result != CLIBCURL_OK, Errno.hasNoDescriptor {
      return EtcdError(.unreachable, "\(place) cannot be reached: \(Errno.tooManyOpenFiles.words)")
    }
    if unsafe answer.pointee.is_too_large != 0 {
      return EtcdError(.tooLarge, "the answer of \(place) is larger than what is read at once")
    }
    switch Int(result) {
    case CLIBCURL_BAD_PEER, CLIBCURL_BAD_ISSUER:
      return .certificate(files?.outdatedAuthority() ?? Self.unaccepted(place, reason, files))
    case CLIBCURL_BAD_AUTHORITIES, CLIBCURL_BAD_CLIENT_CERTIFICATE:
      return .certificate(files?.unusable() ?? "a certificate cannot be used: \(reason)")
    // TLS 1.3 reports a refusal after the handshake, as a failure to read.
    case _ where Self.refusesCertificate(reason):
      return .certificate(
        files?.outdatedCertificate() ?? Self.refused(place, reason, files))
    // A member that accepts only TLS 1.3 does not give the reason in TLS 1.2.
    case _ where reason.contains("alert protocol version"):
      if let reason = files?.outdatedCertificate() { return .certificate(reason) }
    case CLIBCURL_TLS_FAILED where reason.contains("wrong version number"):
      return EtcdError(.unreachable, "\(place) does not speak TLS")
    case CLIBCURL_NO_SUCH_HOST, CLIBCURL_NO_SUCH_PROXY, CLIBCURL_CANNOT_CONNECT, CLIBCURL_TIMED_OUT:
      return EtcdError(.unreachable, "\(place) cannot be reached: \(reason)")
    default: break
    }
    return EtcdError(.unreachable, "the connection to \(place) failed: \(reason)")
  }

  /// Explains why a member's certificate is not accepted here.
  private static func unaccepted(
    _ place: String, _ reason: String, _ files: CertificateFiles?
  ) -> String {
    if reason.contains("expired") {
      return "the certificate of \(place) has expired; renew it there, and check the clock of this "
        + "machine, which says \(CertificateDates.text(of: CertificateDates.now))"
    }
    if reason.contains("not yet valid") {
      return
        "the certificate of \(place) is not yet valid; look at the clock of this machine, which "
        + "says \(CertificateDates.text(of: CertificateDates.now))"
    }
    if reason.contains("does not match") || reason.contains("matches target") {
      return "the certificate of \(place) is for another name; name the cluster by a name in its "
        + "certificate: \(reason)"
    }
    let authority = files?.configuration.certificateAuthority.map { "in \($0)" } ?? "of this system"
    return "the certificate of \(place) is not of an authority \(authority); name its authority: "
      + reason
  }

  /// Whether a member's alert asks for another certificate.
  private static func refusesCertificate(_ reason: String) -> Bool {
    // GnuTLS says this of every alert.
    if reason.contains("fatal alert") { return true }
    return reason.contains("alert")
      && [" certificate", " ca", "handshake failure", "access denied"].contains {
        reason.contains($0)
      }
  }

  private static func refused(
    _ place: String, _ reason: String, _ files: CertificateFiles?
  ) -> String {
    guard let certificate = files?.configuration.certificate else {
      return "\(place) asks for a client certificate; name one, and its key: \(reason)"
    }
    return
      "\(place) does not accept the client certificate \(certificate); use one of an authority "
      + "that the cluster trusts: \(reason)"
  }

  private func reason(_ result: UInt32) -> String {
    if let start = unsafe errorText.baseAddress, unsafe start.pointee != 0 {
      // Times differ between attempts, although the failure is the same.
      let words = unsafe String(cString: start)
      return words.replacing(/\ after [0-9]+ (ms|milliseconds)/, with: "")
    }
    return library.words(of: result)
  }
}

extension EtcdError {
  fileprivate static func certificate(_ message: String) -> EtcdError {
    EtcdError(.certificate, message)
  }
}
