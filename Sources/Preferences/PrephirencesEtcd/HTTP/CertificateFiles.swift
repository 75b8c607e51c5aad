internal import PrephirencesSystem
internal import SystemPackage

/// Looks at the files of this machine by which it trusts a cluster, and which it shows to it.
///
/// libcurl says little of them: a missing key is "unable to set private key file".
struct CertificateFiles {
  let configuration: EtcdConfiguration

  /// Larger than every file with the authorities of a system.
  private static let greatestSize = 4 << 20

  /// Why libcurl cannot use them.
  func unusable() -> String? {
    for (name, path, kind) in files {
      guard let path else { continue }
      do throws(Errno) {
        // The key's bytes stay where they are.
        let bytes = try read(path, kind == .key ? 0 : Self.greatestSize)
        guard kind != .key, CertificateDates.all(inPEM: bytes).isEmpty else { continue }
        return "\(name) has no certificate in PEM: \(path)"
      } catch {
        return error == .noSuchFileOrDirectory
          ? "\(name) is missing: \(path)" : "\(name) cannot be read (\(error.words)): \(path)"
      }
    }
    guard let certificate = configuration.certificate, let key = configuration.key else {
      return nil
    }
    return "the key \(key) does not fit the client certificate \(certificate): "
      + "it belongs to another one, has a passphrase, or is no key in PEM"
  }

  /// Why the client certificate is not valid at this time.
  func outdatedCertificate() -> String? {
    outdated("the client certificate", configuration.certificate)
  }

  /// Why no authority of the file is valid at this time.
  func outdatedAuthority() -> String? {
    outdated("the certificate of the authority", configuration.certificateAuthority)
  }

  private enum Kind {
    case certificate, key
  }

  private var files: [(name: String, path: String?, kind: Kind)] {
    [
      ("the file with the authority", configuration.certificateAuthority, .certificate),
      ("the file with the client certificate", configuration.certificate, .certificate),
      ("the file with the key of the client certificate", configuration.key, .key),
    ]
  }

  private func read(_ path: String, _ count: Int) throws(Errno) -> [UInt8] {
    let descriptor: FileDescriptor
    do {
      descriptor = try unsafe FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
    } catch { throw error as? Errno ?? .invalidArgument }
    defer { try? descriptor.close() }
    return try DescriptorIO.read(descriptor, count)
  }

  private func outdated(_ name: String, _ path: String?) -> String? {
    guard let path, let bytes = try? read(path, Self.greatestSize) else { return nil }
    let dates = CertificateDates.all(inPEM: bytes)
    let now = CertificateDates.now
    guard let first = dates.first, !dates.contains(where: { $0.begin <= now && now <= $0.end })
    else { return nil }
    let clock = "the clock of this machine says \(CertificateDates.text(of: now))"
    return first.begin > now
      ? "\(name) is not yet valid: it begins at \(CertificateDates.text(of: first.begin)), and "
        + "\(clock); look at the clock: \(path)"
      : "\(name) expired at \(CertificateDates.text(of: first.end)), and \(clock); "
        + "renew it: \(path)"
  }
}
