import Foundation

/// A server on this machine that receives one request, with no time limit.
struct LocalServer {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let port: UInt16

  /// Sends a body, and returns the body of the answer.
  func answer(to body: Data) throws -> Data {
    let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(connection) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let isConnected = withUnsafeBytes(of: &address) { bytes in
      guard let start = bytes.baseAddress else { return false }
      return connect(
        connection, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
    }
    guard isConnected else { throw Failure(description: "there is no server") }
    let stream = FileHandle(fileDescriptor: connection, closeOnDealloc: false)
    let head =
      "POST /token HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
      + "Content-Length: \(body.count)\r\n\r\n"
    try stream.write(contentsOf: Data(head.utf8) + body)
    return try Self.body(of: stream.readToEnd() ?? Data())
  }

  private static func body(of response: Data) throws -> Data {
    guard let end = response.firstRange(of: Data("\r\n\r\n".utf8)) else {
      throw Failure(description: "the server gave no answer")
    }
    let status = String(decoding: response.prefix(12), as: UTF8.self)
    guard status.hasSuffix("200") else {
      throw Failure(description: "the server answers \(status)")
    }
    return Data(response[end.upperBound...])
  }
}
