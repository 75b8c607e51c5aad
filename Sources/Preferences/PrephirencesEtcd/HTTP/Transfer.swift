internal import CLibcurl
internal import Glibc
internal import PrephirencesSystem
internal import SystemPackage

/// A connection of libcurl, for one request after the other.
@safe
final class Transfer: @unchecked Sendable {
  // @unchecked Sendable because one thread at a time has it; waking it is safe from every thread.

  /// What ``next(_:_:)`` found.
  enum Step {
    case data
    case ended(result: UInt32)
    case timedOut
  }

  let library: Libcurl
  private let multi: UnsafeMutableRawPointer
  let easy: UnsafeMutableRawPointer
  let body = UnsafeMutablePointer<clibcurl_body>.allocate(capacity: 1)
  let answer = UnsafeMutablePointer<clibcurl_answer>.allocate(capacity: 1)
  let errorText = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(CLIBCURL_ERROR_SIZE))
  private var sending: UnsafeMutableBufferPointer<UInt8>?
  private var headers: OpaquePointer?
  private var isActive = false
  private var seen = 0
  private(set) var configuration: EtcdConfiguration?
  /// Whether the connection has brought an answer.
  var hasWorked = false

  /// - Throws: ``EtcdError/Code/noLibrary``; ``EtcdError/Code/forked``;
  ///   ``EtcdError/Code/cancelled`` if the process exits.
  init() throws(EtcdError) {
    ForkGuard.register()
    try ForkGuard.check()
    let made = unsafe try ExitGate.shared.pass { () throws(EtcdError) in
      let library = try Libcurl.shared()
      guard let easy = library.functions.curl_easy_init() else { throw .noMemory }
      guard let multi = library.functions.curl_multi_init() else {
        unsafe library.functions.curl_easy_cleanup(easy)
        throw .noMemory
      }
      _ = unsafe clibcurl_limit_connections(library.table, multi, 1)
      return unsafe (library: library, easy: easy, multi: multi)
    }
    library = unsafe made.library
    unsafe easy = unsafe made.easy
    unsafe multi = unsafe made.multi
    unsafe body.initialize(to: clibcurl_body())
    unsafe answer.initialize(to: clibcurl_answer())
    unsafe errorText.initialize(repeating: 0)
  }

  deinit {
    // The connection of a parent process stays open for it.
    guard !ForkGuard.isForked else { return }
    finish()
    // When the process exits, the system closes the connection.
    try? ExitGate.shared.pass { () throws(EtcdError) in
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

  /// Begins a request.
  ///
  /// Each is ended by ``finish()``.
  func begin(_ request: HTTPRequest, _ configuration: EtcdConfiguration) throws(EtcdError) {
    try ForkGuard.check()
    finish()
    self.configuration = configuration
    try ExitGate.shared.pass { () throws(EtcdError) in try prepare(request, configuration) }
  }

  private func prepare(
    _ request: HTTPRequest, _ configuration: EtcdConfiguration
  ) throws(EtcdError) {
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
    guard options.result == CLIBCURL_OK else { throw .option(options.result, library) }
    guard unsafe library.functions.curl_multi_add_handle(multi, easy) == 0 else { throw .noMemory }
    isActive = true
  }

  /// Waits for data of the answer, or for its end.
  ///
  /// - Throws: ``EtcdError/Code/cancelled``.
  func next(_ deadline: Deadline, _ cancellation: EtcdCancellation?) throws(EtcdError) -> Step {
    while true {
      try cancellation.check()
      try ForkGuard.check()
      try ExitGate.shared.pass { () throws(EtcdError) in
        var running: CInt = 0
        guard unsafe library.functions.curl_multi_perform(multi, &running) == 0 else {
          throw .noMemory
        }
      }
      if unsafe answer.pointee.count > seen {
        seen = unsafe answer.pointee.count
        return .data
      }
      var result: UInt32 = 0
      if unsafe clibcurl_ended(library.table, multi, &result) != 0 { return .ended(result: result) }
      if deadline.hasPassed { return .timedOut }
      let failure = try ExitGate.shared.pass(wakingBy: { self.wake() }) {
        unsafe library.functions.curl_multi_poll(multi, nil, 0, deadline.milliseconds, nil)
      }
      guard failure == 0 else { throw .noMemory }
    }
  }

  /// Takes what has arrived of the answer.
  func takeData() -> [UInt8] {
    guard let bytes = unsafe answer.pointee.bytes else { return [] }
    let data = unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: answer.pointee.count))
    unsafe clibcurl_clear_answer(answer)
    seen = 0
    return data
  }

  var status: Int { unsafe clibcurl_status(library.table, easy) }

  /// Whether the whole request was given to libcurl, so that etcd may have performed it.
  var hasSentAll: Bool { unsafe body.pointee.sent == body.pointee.count }

  /// The bytes that were sent and received.
  var progress: Int { unsafe body.pointee.sent + answer.pointee.count }

  /// Ends a request.
  ///
  /// If it is not complete, its connection is closed.
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

  private func makeHeaders(_ request: HTTPRequest) throws(EtcdError) -> OpaquePointer? {
    var made: OpaquePointer?
    func add(_ header: UnsafePointer<CChar>) -> OpaquePointer? {
      guard let longer = unsafe library.functions.curl_slist_append(made, header) else {
        return nil
      }
      unsafe made = unsafe longer
      return unsafe longer
    }
    // A member without a leader refuses; an empty Expect spares a round trip.
    for header in [
      "Content-Type: application/json", "Accept: application/json", "Expect:",
      "Grpc-Metadata-hasleader: true",
    ] + (request.endsConnection ? ["Connection: close"] : []) where unsafe add(header) == nil {
      unsafe clibcurl_free_list(library.table, made)
      throw .noMemory
    }
    if let token = request.token, unsafe token.withHeader({ unsafe add($0) }) == nil {
      unsafe clibcurl_free_list(library.table, made)
      throw .noMemory
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
