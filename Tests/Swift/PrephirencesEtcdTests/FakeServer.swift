import Foundation
import Glibc
import PrephirencesEtcd

/// A server that answers as a test says, wrongly for the most part.
final class FakeServer: Sendable {
  /// One connection, on a thread of its own.
  struct Connection: Sendable {
    let descriptor: Int32

    /// Reads a request, and returns its path and body; `nil` at the end of the connection.
    func request() -> (path: String, body: [UInt8])? {
      var head: [UInt8] = []
      while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
        guard let byte = read(1) else { return nil }
        head += byte
      }
      let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
      let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
        .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
      guard let path = lines.first?.split(separator: " ").dropFirst().first,
        let body = read(length ?? 0)
      else { return nil }
      return (String(path), body)
    }

    private func read(_ count: Int) -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: count)
      guard count == 0 || recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count
      else { return nil }
      return bytes
    }

    /// Returns whether the client is still there.
    @discardableResult
    func send(_ text: String) -> Bool {
      let bytes = Array(text.utf8)
      return Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) > 0
    }

    func answer(_ body: String, status: String = "200 OK") {
      send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Answers a watch, and waits until the client ends it.
    func watch(_ results: [String]) {
      beginWatch(results)
      waitForEnd()
    }

    func beginWatch(_ results: [String]) {
      send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      for result in results {
        let line = "{\"result\":{\(result)}}\n"
        send("\(String(line.utf8.count, radix: 16))\r\n\(line)\r\n")
      }
    }

    /// Waits until the client closes the connection.
    func waitForEnd() { while read(1) != nil {} }
  }

  let port: Int
  private let listener: Int32
  private let counter = Counter()

  /// The number of requests that were read completely by ``Connection/request()`` and counted.
  var requests: Int { counter.value }

  init(_ serve: @escaping @Sendable (Connection, () -> Int) -> Void) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isListening = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 16) == 0
          && getsockname(listener, $0, &size) == 0
      }
    }
    guard isListening else { throw POSIXError(.EADDRINUSE) }
    port = Int(in_port_t(bigEndian: address.sin_port))
    let counter = counter
    Thread.detachNewThread {
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else {
          // Here, since another server could get the same number before this one has seen the end.
          close(listener)
          return
        }
        Thread.detachNewThread {
          serve(Connection(descriptor: descriptor)) {
            counter.add()
          }
          close(descriptor)
        }
      }
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  var configuration: EtcdConfiguration {
    EtcdConfiguration(endpoints: [.init(host: "127.0.0.1", port: port)], usesTLS: false)
  }

  var client: EtcdClient { EtcdClient(configuration) }

  /// An answer as etcd gives it.
  static let header = #""header":{"cluster_id":"1","member_id":"2","revision":"7","raft_term":"2"}"#
}
