internal import CPrephirencesLibcurl
internal import Glibc

struct HTTPRequest {
  var endpoint: EtcdConfiguration.Endpoint
  var path: String
  var token: Token?
  var body: [UInt8]
  /// The size limit of the answer, in bytes.
  var answerLimit: Int
  /// Whether only a connection is made, with TLS 1.2.
  var isHandshake = false
  /// Whether the connection ends with the answer.
  ///
  /// If it stays open, the gateway drops the unread rest of a request as soon as it answers.
  var endsConnection = false
}

struct HTTPAnswer {
  var status: Int
  var body: [UInt8]
}

/// Sets the options of a transfer, and keeps the first failure.
@safe
struct TransferOptions {
  private let library: Libcurl
  private let easy: UnsafeMutableRawPointer
  private(set) var result: UInt32 = 0

  init(_ library: Libcurl, _ easy: UnsafeMutableRawPointer) {
    self.library = library
    unsafe self.easy = unsafe easy
  }

  mutating func connect(to request: HTTPRequest, _ configuration: EtcdConfiguration) {
    let scheme = configuration.usesTLS ? "https" : "http"
    set(CLIBCURL_URL, "\(scheme)://\(request.endpoint.authority)\(request.path)")
    // Otherwise name resolution uses signals.
    set(CLIBCURL_NO_SIGNAL, 1)
    set(CLIBCURL_FOLLOW_LOCATION, 0)
    limitProtocols(configuration.usesTLS ? "https" : "http")
    set(CLIBCURL_HTTP_VERSION, CLIBCURL_HTTP_1_1)
    // An empty text disables the proxies of the environment and their exceptions. Without TLS,
    // nothing leaves this machine.
    set(CLIBCURL_PROXY, configuration.usesTLS ? configuration.proxy ?? "" : "")
    set(CLIBCURL_NO_PROXY, "")
    let connecting = configuration.timing.connecting / .milliseconds(1)
    set(CLIBCURL_CONNECT_TIMEOUT, Int(min(max(connecting, 1), 1_000_000)))
    set(CLIBCURL_KEEPALIVE, 1)
    set(CLIBCURL_KEEPALIVE_IDLE, 15)
    set(CLIBCURL_KEEPALIVE_INTERVAL, 5)
    // A deadline must not wait for a hanging resolver. Older versions wait.
    _ = unsafe clibcurl_set_number(library.table, easy, UInt32(CLIBCURL_QUICK_EXIT), 1)
  }

  /// Sets what is verified; no configuration can change that.
  mutating func secure(_ configuration: EtcdConfiguration, isHandshake: Bool) {
    guard configuration.usesTLS else { return }
    set(CLIBCURL_VERIFY_PEER, 1)
    set(CLIBCURL_VERIFY_HOST, 2)
    set(
      CLIBCURL_TLS_VERSION,
      isHandshake ? CLIBCURL_TLS_1_2 | CLIBCURL_TLS_AT_MOST_1_2 : CLIBCURL_TLS_1_2)
    if isHandshake { set(CLIBCURL_CONNECT_ONLY, 1) }
    if let authority = configuration.certificateAuthority {
      set(CLIBCURL_AUTHORITY_FILE, authority)
      // Then the system's authorities don't count.
      take(unsafe clibcurl_set_text(library.table, easy, UInt32(CLIBCURL_AUTHORITY_FOLDER), nil))
    }
    if let certificate = configuration.certificate, let key = configuration.key {
      set(CLIBCURL_CERTIFICATE, certificate)
      set(CLIBCURL_KEY, key)
      // Otherwise OpenSSL asks for the passphrase of an encrypted key on the terminal.
      set(CLIBCURL_KEY_PASSWORD, "")
    }
  }

  mutating func exchange(
    headers: OpaquePointer?, body: UnsafeMutablePointer<clibcurl_body>,
    answer: UnsafeMutablePointer<clibcurl_answer>, error: UnsafeMutableBufferPointer<CChar>
  ) {
    set(CLIBCURL_USER_AGENT, "Prephirences")
    take(
      unsafe clibcurl_set_address(
        library.table, easy, UInt32(CLIBCURL_HEADERS),
        headers.map { unsafe UnsafeMutableRawPointer($0) }))
    take(unsafe clibcurl_set_body(library.table, easy, body))
    take(unsafe clibcurl_set_answer(library.table, easy, answer))
    unsafe error.update(repeating: 0)
    take(
      unsafe clibcurl_set_address(
        library.table, easy, UInt32(CLIBCURL_ERROR_BUFFER), error.baseAddress))
  }

  private mutating func limitProtocols(_ scheme: String) {
    let known = unsafe clibcurl_set_text(
      library.table, easy, UInt32(CLIBCURL_PROTOCOLS_TEXT), scheme)
    guard known == CLIBCURL_UNKNOWN_OPTION else { return take(known) }
    set(CLIBCURL_PROTOCOLS, scheme == "https" ? CLIBCURL_PROTOCOL_HTTPS : CLIBCURL_PROTOCOL_HTTP)
  }

  private mutating func set(_ option: Int, _ value: Int) {
    take(unsafe clibcurl_set_number(library.table, easy, UInt32(option), value))
  }

  private mutating func set(_ option: Int, _ text: String) {
    take(unsafe clibcurl_set_text(library.table, easy, UInt32(option), text))
  }

  private mutating func take(_ result: UInt32) {
    if self.result == CLIBCURL_OK { self.result = result }
  }
}

/// A token as a header; its bytes are wiped at the end.
@safe
final class Token: @unchecked Sendable {
  // @unchecked Sendable because the bytes never change.
  private let header: UnsafeMutableBufferPointer<CChar>

  init(_ token: [UInt8]) throws {
    guard !token.isEmpty, token.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw EtcdError.malformed
    }
    let name = "Authorization: ".utf8
    let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: name.count + token.count + 1)
    unsafe buffer.initialize(repeating: 0)
    for (index, byte) in name.enumerated() { unsafe buffer[index] = CChar(bitPattern: byte) }
    for (index, byte) in token.enumerated() {
      unsafe buffer[name.count + index] = CChar(bitPattern: byte)
    }
    unsafe header = unsafe buffer
  }

  deinit {
    if let start = unsafe header.baseAddress { unsafe explicit_bzero(start, header.count) }
    unsafe header.deallocate()
  }

  /// Calls `body` with the header as a C string.
  func withHeader<Result>(_ body: (UnsafePointer<CChar>) -> Result?) -> Result? {
    guard let start = unsafe header.baseAddress else { return nil }
    return unsafe body(unsafe UnsafePointer(start))
  }
}

/// libcurl, loaded on first use.
@safe
final class Libcurl: @unchecked Sendable {
  // @unchecked Sendable because the table is filled once and never changed.

  /// Kept for the life of the process: libraries are never unloaded.
  let table: UnsafePointer<clibcurl>

  var functions: clibcurl { unsafe table.pointee }

  /// The library's names, built with OpenSSL or with GnuTLS.
  static let names = ["libcurl.so.4", "libcurl-gnutls.so.4"]

  private static let loaded = Result {
    ExitGate.register()
    let library = try Libcurl(names)
    ExitGate.register()
    return library
  }

  /// Returns the system's library; call it behind the ``ExitGate``.
  static func shared() throws -> Libcurl { try loaded.get() }

  /// Loads the first library that exists.
  init(_ names: [String]) throws {
    var problem = "no library is named"
    for name in names {
      var functions = clibcurl()
      // The missing part can be the name itself, which C has only during the call.
      let missing = unsafe name.withCString { name in
        unsafe clibcurl_load(&functions, name).map { unsafe String(cString: $0) }
      }
      if let missing {
        problem =
          missing == name
          ? "libcurl is not installed (\(name))"
          : "libcurl is older than 7.68: \(name) has no \(missing)"
        continue
      }
      guard functions.curl_global_init(Int(CLIBCURL_GLOBAL_DEFAULT)) == CLIBCURL_OK else {
        problem = "libcurl cannot be initialized"
        continue
      }
      let table = UnsafeMutablePointer<clibcurl>.allocate(capacity: 1)
      unsafe table.initialize(to: functions)
      unsafe self.table = unsafe UnsafePointer(table)
      return
    }
    throw EtcdError(
      .noLibrary,
      "etcd is reached through libcurl, and \(problem); "
        + "install it (the package libcurl4, libcurl4t64 or libcurl)")
  }

  /// The library's description of a result.
  func words(of result: UInt32) -> String {
    guard let words = functions.curl_easy_strerror(result) else { return "\(result)" }
    return unsafe String(cString: words)
  }
}
