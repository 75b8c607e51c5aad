internal import Glibc
internal import PrephirencesSystem
internal import SystemPackage

/// Checks the certificate files of this machine, to explain why libcurl cannot use them.
///
/// libcurl itself says little: a missing key is "unable to set private key file".
struct CertificateFiles {
  let configuration: EtcdConfiguration

  /// Larger than any system's file of authorities.
  private static let greatestSize = 4 << 20

  /// Why libcurl cannot use the files.
  func unusable() -> String? {
    for (name, path, kind) in files {
      guard let path else { continue }
      do throws(Errno) {
        // The key's bytes are not read into memory.
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

  /// Why the client certificate is not valid now.
  func outdatedCertificate() -> String? {
    outdated("the client certificate", configuration.certificate)
  }

  /// Why no authority in the file is valid now.
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

/// The validity of a certificate (RFC 5280, section 4.1).
///
/// A time is a number whose digits are year, month, day, hour, minute and second, in UTC.
struct CertificateDates: Hashable {
  let begin: Int
  let end: Int

  static var now: Int { time(Glibc.time(nil)) }

  /// Converts seconds since 1970.
  static func time(_ seconds: Int) -> Int {
    var (seconds, date) = unsafe (seconds, tm())
    unsafe gmtime_r(&seconds, &date)
    let day =
      unsafe (Int(date.tm_year) + 1900) * 10_000 + (Int(date.tm_mon) + 1) * 100 + Int(date.tm_mday)
    return unsafe day * 1_000_000
      + Int(date.tm_hour) * 10_000 + Int(date.tm_min) * 100 + Int(date.tm_sec)
  }

  /// Formats a time for people.
  static func text(of time: Int) -> String {
    func two(_ place: Int) -> String {
      let number = time / place % 100
      return number < 10 ? "0\(number)" : "\(number)"
    }
    return "\(time / 10_000_000_000)-\(two(100_000_000))-\(two(1_000_000)) "
      + "\(two(10_000)):\(two(100)) UTC"
  }

  /// Reads the certificates of a file, without those that cannot be read.
  static func all(inPEM bytes: [UInt8]) -> [CertificateDates] {
    var found: [CertificateDates] = []
    var text: [UInt8]?
    for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      if line.starts(with: "-----BEGIN CERTIFICATE-----".utf8) {
        text = []
      } else if line.starts(with: "-----".utf8) {
        if let dates = text.flatMap({ [UInt8](base64: $0[...]) }).flatMap(CertificateDates.init) {
          found.append(dates)
        }
        text = nil
      } else {
        text?.append(contentsOf: line.filter { $0 > 0x20 })
      }
    }
    return found
  }

  init?(_ certificate: [UInt8]) {
    var outer = Elements(rest: certificate[...])
    guard var whole = outer.next().map({ Elements(rest: $0.content) }),
      var signed = whole.next().map({ Elements(rest: $0.content) })
    else { return nil }
    // The version is optional. The number, the signature's algorithm and the issuer follow.
    let first = signed.next()
    if first?.tag == 0xA0 { _ = signed.next() }
    guard signed.next() != nil, signed.next() != nil,
      var times = signed.next().map({ Elements(rest: $0.content) }),
      let begin = times.next().flatMap(Self.time), let end = times.next().flatMap(Self.time)
    else { return nil }
    self.begin = begin
    self.end = end
  }

  /// Parses `YYMMDDHHMMSSZ`, or the same with a year of four digits.
  private static func time(_ element: Elements.Element) -> Int? {
    // More digits could overflow.
    guard element.content.count <= 15, element.content.last == UInt8(ascii: "Z") else { return nil }
    let digits = element.content.dropLast().map { Int($0) - 0x30 }
    guard digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
    let number = digits.reduce(0) { $0 * 10 + $1 }
    switch (element.tag, digits.count) {
    case (0x17, 12): return number + (digits[0] < 5 ? 20 : 19) * 1_000_000_000_000
    case (0x18, 14): return number
    default: return nil
    }
  }

  /// Iterates over the elements in an element.
  private struct Elements {
    typealias Element = (tag: UInt8, content: ArraySlice<UInt8>)

    var rest: ArraySlice<UInt8>

    mutating func next() -> Element? {
      guard let tag = rest.popFirst(), var length = rest.popFirst().map(Int.init) else {
        return nil
      }
      if length >= 0x80 {
        let count = length & 0x7F
        guard (1...3).contains(count), rest.count >= count else { return nil }
        length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        rest.removeFirst(count)
      }
      guard rest.count >= length else { return nil }
      defer { rest.removeFirst(length) }
      return (tag, rest.prefix(length))
    }
  }
}
