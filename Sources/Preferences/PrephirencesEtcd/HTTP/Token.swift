internal import Glibc

/// What a login gave, as a header, wiped at the end.
@safe
final class Token: @unchecked Sendable {
  // @unchecked Sendable because the bytes never change.
  private let header: UnsafeMutableBufferPointer<CChar>

  /// - Throws: ``EtcdError/Code/protocolViolation`` if the token does not fit into a header.
  init(_ token: [UInt8]) throws(EtcdError) {
    guard !token.isEmpty, token.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .malformed }
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

  /// Calls `body` with the header as a text of C.
  func withHeader<Result>(_ body: (UnsafePointer<CChar>) -> Result?) -> Result? {
    guard let start = unsafe header.baseAddress else { return nil }
    return unsafe body(unsafe UnsafePointer(start))
  }
}
