import Foundation
import Glibc
import Synchronization

/// Passes connections on to a server on loopback, and can swallow what those that are open answer.
final class SilentRelay: Sendable {
  let port: Int
  private let listener: Int32
  /// Connections that began before the last silence are silent.
  private let silences: Counter

  private static let size = socklen_t(MemoryLayout<sockaddr_in>.size)

  private final class Counter: Sendable {
    let value = Atomic(0)
  }

  init(to server: Int) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let silences = Counter()
    self.silences = silences
    let listener = listener
    let own = Self.with(port: 0) { address in
      var size = Self.size
      return bind(listener, address, size) == 0 && listen(listener, 16) == 0
        && getsockname(listener, address, &size) == 0
    }
    guard own.isDone else { throw POSIXError(.EADDRINUSE) }
    port = own.port
    Thread.detachNewThread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isConnected = Self.with(port: server) { connect(upstream, $0, Self.size) == 0 }.isDone
        guard isConnected else {
          close(client)
          close(upstream)
          continue
        }
        let born = silences.value.load(ordering: .sequentiallyConsistent)
        Thread.detachNewThread { Self.pass(from: client, to: upstream) { true } }
        Thread.detachNewThread {
          Self.pass(from: upstream, to: client) {
            silences.value.load(ordering: .sequentiallyConsistent) == born
          }
        }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  /// Swallows what the server answers on open connections, which stay open.
  func silence() { silences.value.add(1, ordering: .sequentiallyConsistent) }

  /// Both threads of a connection end with either of its ends; its descriptors end with the test.
  private static func pass(from: Int32, to: Int32, passes: () -> Bool) {
    var bytes = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = recv(from, &bytes, bytes.count, 0)
      guard count > 0 else { break }
      if passes() { send(to, bytes, count, Int32(MSG_NOSIGNAL)) }
    }
    shutdown(from, Int32(SHUT_RDWR))
    shutdown(to, Int32(SHUT_RDWR))
  }

  private static func with(
    port: Int, _ body: (UnsafeMutablePointer<sockaddr>) -> Bool
  ) -> (isDone: Bool, port: Int) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    address.sin_port = in_port_t(port).bigEndian
    let isDone = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
    }
    return (isDone, Int(in_port_t(bigEndian: address.sin_port)))
  }
}
