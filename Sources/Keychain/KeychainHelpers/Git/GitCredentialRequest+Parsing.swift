internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesSystem

extension GitCredentialRequest {
  /// The greatest number of bytes in a line, as git has it.
  static let lineLimit = 65_535

  /// Parses what git sends.
  ///
  /// An empty line or the end is the end of the request. The last of repeated keys counts; a key that
  /// ends with `[]` begins a list, and its empty value empties the list. Unknown keys are ignored.
  ///
  /// - Parameter bytes: The lines.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with
  ///   ``/KeychainCredentials/KeychainError/Code/invalidArgument`` for a line without `=` or of more
  ///   than 65,535 bytes, a value with a carriage return or NUL, or a name that is not UTF-8; or with
  ///   ``/KeychainCredentials/KeychainError/Code/insufficientMemory``. The message repeats no value.
  public init(parsing bytes: borrowing SecretBytes) throws(KeychainError) {
    var request = GitCredentialRequest()
    try bytes.withBytes { bytes throws(KeychainError) in
      var start = 0
      while start < bytes.byteCount {
        let end = bytes.index(of: UInt8(ascii: "\n"), from: start) ?? bytes.byteCount
        guard end > start else { break }
        try request.take(line: bytes.extracting(start..<end))
        start = end + 1
      }
    }
    self = request
  }

  private mutating func take(line: RawSpan) throws(KeychainError) {
    guard line.byteCount <= Self.lineLimit else { throw .gitLineTooLong }
    guard let sign = line.index(of: UInt8(ascii: "="), from: 0), sign > 0 else {
      throw .gitLineWithoutValue
    }
    let value = line.extracting((sign + 1)..<line.byteCount)
    guard value.index(of: UInt8(ascii: "\r"), from: 0) == nil, value.index(of: 0, from: 0) == nil
    else { throw .gitValueWithControl }
    guard let key = line.extracting(0..<sign).text else { return }
    try set(key, to: value)
  }

  private mutating func set(_ key: String, to value: RawSpan) throws(KeychainError) {
    switch key {
    case "protocol": self.protocol = try Self.name(value)
    case "host": host = try Self.name(value)
    case "path": path = try Self.text(value)
    case "username": username = try Self.text(value)
    case "authtype": authenticationType = try Self.name(value)
    case "password": password = try SharedSecret(copying: value)
    case "credential": credential = try SharedSecret(copying: value)
    case "oauth_refresh_token": refreshToken = try SharedSecret(copying: value)
    case "password_expiry_utc": expires = GitExpiry.date(value.text)
    case "ephemeral": isEphemeral = !["", "0", "false"].contains(value.text ?? "")
    case "capability[]": takeCapability(value.text ?? "")
    default: break
    }
  }

  private mutating func takeCapability(_ name: String) {
    if name.isEmpty { understandsAuthenticationTypes = false }
    if name.hasSameBytes(as: "authtype") { understandsAuthenticationTypes = true }
  }

  /// Returns a text that counts as missing if it is empty.
  private static func name(_ value: RawSpan) throws(KeychainError) -> String? {
    let text = try text(value)
    return text.isEmpty ? nil : text
  }

  private static func text(_ value: RawSpan) throws(KeychainError) -> String {
    guard let text = value.text else { throw .gitNameNotText }
    return text
  }
}

extension SharedSecret {
  convenience init(copying bytes: RawSpan) throws(KeychainError) {
    self.init(try translated(secrets: SecretBytes(copying: bytes)))
  }
}

extension RawSpan {
  /// Returns the position of the first byte of this value at or after a position.
  func index(of byte: UInt8, from start: Int) -> Int? {
    var position = start
    while position < byteCount {
      if self.byte(at: position) == byte { return position }
      position += 1
    }
    return nil
  }
}

/// The time in `password_expiry_utc`: seconds since 1970.
enum GitExpiry {
  /// Returns the date of a text; `nil` if it is none that can be stored.
  static func date(_ text: String?) -> Date? {
    guard let text, let seconds = Int64(text), (1...latest).contains(seconds) else { return nil }
    return Date(timeIntervalSince1970: Double(seconds))
  }

  /// Returns the seconds of a date; the part of a second is cut off.
  static func seconds(_ date: Date) -> Int64 {
    Int64(date.timeIntervalSince1970.rounded(.down).clamped(to: Double(-latest)...Double(latest)))
  }

  /// The end of the year 9999.
  private static let latest: Int64 = 253_402_300_799
}

extension Double {
  fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
    min(max(self, range.lowerBound), range.upperBound)
  }
}
