internal import Glibc
internal import PrephirencesCommandLine

/// Tells the service manager, if one has started this process, about its state.
enum ServiceNotice {
  /// How long the manager waits for a sign of life; `nil` if it wants none of this process.
  static var watchdogPeriod: Duration? {
    guard let microseconds = Environment.value("WATCHDOG_USEC").flatMap(Int64.init),
      microseconds > 0
    else { return nil }
    if let process = Environment.value("WATCHDOG_PID"), pid_t(process) != getpid() { return nil }
    return .microseconds(microseconds)
  }

  /// Whether somebody wants to know.
  static var isWanted: Bool { Environment.value("NOTIFY_SOCKET") != nil }

  /// Sends a line of systemd's notification protocol; nothing if nobody asked for it.
  static func send(_ text: String) {
    guard let path = Environment.value("NOTIFY_SOCKET") else { return }
    var bytes = Array(path.utf8)
    var address = sockaddr_un()
    let isAbstract = bytes.first == UInt8(ascii: "@")
    guard isAbstract || bytes.first == UInt8(ascii: "/"),
      bytes.count < MemoryLayout.size(ofValue: address.sun_path)
    else { return }
    if isAbstract { bytes[0] = 0 }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return }
    defer { close(socket) }
    let size = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + bytes.count } ?? 0
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = sendto(
          socket, text, text.utf8.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), address,
          socklen_t(size))
      }
    }
  }
}
