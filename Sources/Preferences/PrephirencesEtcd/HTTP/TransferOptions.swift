internal import CLibcurl

/// Sets the options of a transfer.
///
/// The first failure stays as the result.
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
    // Without this, resolving a name uses signals.
    set(CLIBCURL_NO_SIGNAL, 1)
    set(CLIBCURL_FOLLOW_LOCATION, 0)
    limitProtocols(configuration.usesTLS ? "https" : "http")
    set(CLIBCURL_HTTP_VERSION, CLIBCURL_HTTP_1_1)
    // An empty text refuses the proxies of the environment, and its exceptions. Without TLS nothing
    // leaves this machine.
    set(CLIBCURL_PROXY, configuration.usesTLS ? configuration.proxy ?? "" : "")
    set(CLIBCURL_NO_PROXY, "")
    let connecting = configuration.timing.connecting / .milliseconds(1)
    set(CLIBCURL_CONNECT_TIMEOUT, Int(min(max(connecting, 1), 1_000_000)))
    set(CLIBCURL_KEEPALIVE, 1)
    set(CLIBCURL_KEEPALIVE_IDLE, 15)
    set(CLIBCURL_KEEPALIVE_INTERVAL, 5)
    // A deadline does not wait for a resolver that hangs. Older versions wait.
    _ = unsafe clibcurl_set_number(library.table, easy, UInt32(CLIBCURL_QUICK_EXIT), 1)
  }

  /// What is checked cannot be changed by a configuration.
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
      // Then those of the system don't count.
      take(unsafe clibcurl_set_text(library.table, easy, UInt32(CLIBCURL_AUTHORITY_FOLDER), nil))
    }
    if let certificate = configuration.certificate, let key = configuration.key {
      set(CLIBCURL_CERTIFICATE, certificate)
      set(CLIBCURL_KEY, key)
      // Otherwise OpenSSL asks on the terminal for that of a sealed key.
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
