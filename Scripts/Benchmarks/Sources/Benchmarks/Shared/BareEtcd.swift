import Foundation
import Glibc

/// The minimum work of a change that another machine sees: one put, and one open watch, by sockets
/// alone.
final class BareEtcd {
  struct Failure: Error {}

  private let port: UInt16
  private var pending: [Int32: [UInt8]] = [:]

  init(port: UInt16) { self.port = port }

  deinit { for connection in pending.keys { close(connection) } }

  /// Returns a connection on which requests are sent.
  func connect() throws -> Int32 {
    let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw Failure() }
    var on: Int32 = 1
    setsockopt(
      connection, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    pending[connection] = []
    return connection
  }

  func put(_ value: String, forKey key: String, on connection: Int32) throws {
    try send("kv/put", #"{"key":"\#(base64(key))","value":"\#(base64(value))"}"#, on: connection)
    let head = try line(on: connection, endingIn: "\r\n\r\n")
    let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
    guard head.hasPrefix("HTTP/1.1 200"), let count = length.flatMap({ Int($0.dropFirst(16)) })
    else {
      throw Failure()
    }
    while (pending[connection]?.count ?? 0) < count { try receive(on: connection) }
    pending[connection]?.removeFirst(count)
  }

  /// Returns a connection on which each change of a key arrives.
  func watch(_ key: String) throws -> Int32 {
    let connection = try connect()
    try send("watch", #"{"create_request":{"key":"\#(base64(key))"}}"#, on: connection)
    try wait(for: #""created":true"#, on: connection)
    return connection
  }

  /// Waits until a value has arrived.
  func wait(forValue value: String, on connection: Int32) throws {
    try wait(for: #""value":"\#(base64(value))""#, on: connection)
  }

  private func wait(for text: String, on connection: Int32) throws {
    while true {
      if try line(on: connection, endingIn: "\n").contains(text) { return }
    }
  }

  private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

  private func send(_ path: String, _ body: String, on connection: Int32) throws {
    let request =
      "POST /v3/\(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
      + body
    var bytes = Array(request.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, 0) }
      guard count > 0 else { throw Failure() }
      bytes = bytes.dropFirst(count)
    }
  }

  private func line(on connection: Int32, endingIn end: String) throws -> String {
    let end = Array(end.utf8)
    while true {
      let bytes = pending[connection] ?? []
      if let range = bytes.firstRange(of: end) {
        pending[connection]?.removeFirst(range.upperBound)
        return String(decoding: bytes[..<range.upperBound], as: UTF8.self)
      }
      try receive(on: connection)
    }
  }

  private func receive(on connection: Int32) throws {
    var descriptor = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, 10_000) > 0 else { throw Failure() }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(connection, &buffer, buffer.count, 0)
    guard count > 0 else { throw Failure() }
    pending[connection, default: []] += buffer[..<count]
  }
}
