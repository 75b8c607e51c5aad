internal import CLibcurl

extension Transfer {
  /// What a result of libcurl means.
  func failure(_ result: UInt32, _ endpoint: EtcdConfiguration.Endpoint) -> EtcdError {
    let place = endpoint.authority
    let reason = reason(result)
    if unsafe answer.pointee.is_too_large != 0 {
      return EtcdError(.tooLarge, "the answer of \(place) is larger than what is read at once")
    }
    switch Int(result) {
    case CLIBCURL_BAD_PEER where reason.contains("expired"):
      return EtcdError(
        .certificate,
        "the certificate of \(place) is not accepted: \(reason); renew it there, and check the "
          + "clock of this machine")
    case CLIBCURL_BAD_PEER, CLIBCURL_BAD_ISSUER:
      return EtcdError(
        .certificate,
        "the certificate of \(place) is not accepted: \(reason); name its authority, and the "
          + "cluster by a name in its certificate")
    case CLIBCURL_BAD_AUTHORITIES:
      return EtcdError(.certificate, "the file with the authority cannot be read: \(reason)")
    case CLIBCURL_BAD_CLIENT_CERTIFICATE:
      return EtcdError(.certificate, "the client certificate cannot be used: \(reason)")
    // TLS 1.3 tells a refusal after the handshake, as a failure to read.
    case _
    where reason.contains("alert") && (reason.contains("certificate") || reason.contains(" ca")):
      return EtcdError(
        .certificate,
        "\(place) does not accept the client certificate, or asks for one: \(reason)")
    case CLIBCURL_NO_SUCH_HOST, CLIBCURL_NO_SUCH_PROXY, CLIBCURL_CANNOT_CONNECT, CLIBCURL_TIMED_OUT:
      return EtcdError(.unreachable, "\(place) cannot be reached: \(reason)")
    default:
      return EtcdError(.unreachable, "the connection to \(place) failed: \(reason)")
    }
  }

  private func reason(_ result: UInt32) -> String {
    if let start = unsafe errorText.baseAddress, unsafe start.pointee != 0 {
      // Times differ from one attempt to the next, but the failure is the same.
      let words = unsafe String(cString: start)
      return words.replacing(/\ after [0-9]+ (ms|milliseconds)/, with: "")
    }
    return library.words(of: result)
  }
}
