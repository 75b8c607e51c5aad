internal import CLibcurl
internal import PrephirencesSystem
internal import SystemPackage

extension Transfer {
  /// What a result of libcurl means.
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
    // TLS 1.3 tells a refusal after the handshake, as a failure to read.
    case _ where Self.refusesCertificate(reason):
      return .certificate(
        files?.outdatedCertificate() ?? Self.refused(place, reason, files))
    // A member that takes TLS 1.3 alone doesn't say why in the older one.
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

  /// Why the certificate of a member is not accepted here.
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

  /// Whether a member says in an alert that it wants another certificate.
  private static func refusesCertificate(_ reason: String) -> Bool {
    // What GnuTLS says of every alert.
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
      // Times differ from one attempt to the next, but the failure is the same.
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
