internal import Foundation
internal import Glibc
internal import Synchronization

/// Processes of etcd.
enum EtcdProcess {
  struct Failed: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// Starts a server that ends with this process.
  static func start(_ program: String, _ arguments: [String], log: String) throws -> pid_t {
    try Starter.shared.start(["setpriv", "--pdeathsig", "KILL", program] + arguments, log: log)
  }

  /// Ends a server and waits for it; after 10 seconds, it is killed.
  static func end(_ process: pid_t, _ signal: Int32) {
    kill(process, signal)
    for _ in 0..<500 {
      if waitpid(process, nil, WNOHANG) != 0 { return }
      usleep(20_000)
    }
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
  }

  /// Runs a program, and returns what it prints.
  static func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    // Variables of the machine must not choose a cluster.
    process.environment = [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "ETCDCTL_API": "3",
    ]
    process.arguments = [program] + arguments
    // Not a pipe: a server of another test, started meanwhile, would have its end, too.
    let path = FileManager.default.temporaryDirectory.path + "/output-\(UUID().uuidString)"
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let output = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? output.close() }
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    let text = try String(contentsOfFile: path, encoding: .utf8)
    guard process.terminationStatus == 0 else {
      throw Failed("\(program) \(arguments.first { !$0.hasPrefix("-") } ?? ""): \(text)")
    }
    return text
  }

  /// The ports that this process has given to servers, which may take seconds to use them.
  private static let given = Mutex<Set<Int>>([])

  /// Returns ports that nobody uses, outside those that the kernel gives to connections.
  static func freePorts(_ count: Int) throws -> [Int] {
    var ports: [Int] = []
    for _ in 0..<1000 where ports.count < count {
      let port = Int.random(in: 20_000..<32_000)
      if isFree(port), given.withLock({ $0.insert(port).inserted }) { ports.append(port) }
    }
    guard ports.count == count else { throw Failed("no free ports") }
    return ports
  }

  private static func isFree(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}

/// Starts processes on a thread that never ends: the kernel ends them with their thread.
private final class Starter: Sendable {
  static let shared = Starter()

  private struct Order {
    let command: [String]
    let log: String
    let done: @Sendable (Result<pid_t, any Error>) -> Void
  }

  private let orders = Mutex<[Order]>([])
  private let ordered = DispatchSemaphore(value: 0)

  private init() {
    Thread.detachNewThread { [self] in
      while true {
        ordered.wait()
        guard let order = orders.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { continue }
        order.done(Result { try Self.spawn(order.command, order.log) })
      }
    }
  }

  func start(_ command: [String], log: String) throws -> pid_t {
    let answer = Box()
    orders.withLock { $0.append(Order(command: command, log: log) { answer.set($0) }) }
    ordered.signal()
    return try answer.get()
  }

  private final class Box: Sendable {
    private let result = Mutex<Result<pid_t, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    func set(_ value: Result<pid_t, any Error>) {
      result.withLock { $0 = value }
      done.signal()
    }

    func get() throws -> pid_t {
      done.wait()
      guard let value = result.withLock({ $0 }) else { throw EtcdProcess.Failed("not started") }
      return try value.get()
    }
  }

  private static func spawn(_ command: [String], _ log: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var words = command.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process: pid_t = 0
    let result = posix_spawnp(&process, command[0], &actions, nil, &words, environ)
    guard result == 0 else { throw EtcdProcess.Failed("\(command[0]): error \(result)") }
    return process
  }
}
