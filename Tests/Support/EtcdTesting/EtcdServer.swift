internal import Foundation
internal import Glibc
internal import Synchronization

/// A cluster of etcd on loopback, for tests.
///
/// It ends with the object, or with the process. It has ports and a folder of its own.
public final class EtcdServer: Sendable {
  /// The ports of the clients of each node.
  public let ports: [Int]
  /// The certificates, if the cluster uses TLS; clients need one, too.
  public let certificates: EtcdCertificates?
  /// A folder for files of the test, removed at the end.
  public let folder: String
  private let peers: [Int]
  private let arguments: [String]
  /// The names of the data folders, which a restore changes, and the processes.
  private let nodes: Mutex<[Node]>

  private struct Node {
    var data: String
    var process: pid_t?
  }

  /// Starts a cluster, and waits until it answers.
  ///
  /// It has 1 or 3 nodes. With TLS, it asks clients for a certificate.
  public init(nodes count: Int = 1, usesTLS: Bool = false, arguments: [String] = []) throws {
    folder = FileManager.default.temporaryDirectory.path + "/etcd-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    certificates = usesTLS ? try EtcdCertificates(in: folder) : nil
    let free = try EtcdProcess.freePorts(2 * count)
    ports = Array(free[..<count])
    peers = Array(free[count...])
    self.arguments = arguments
    nodes = Mutex((0..<count).map { Node(data: "data\($0)") })
    for node in 0..<count { try launch(node, state: "new") }
    try waitUntilReady()
  }

  deinit { end() }

  /// Ends the cluster at once.
  ///
  /// It ends with the object, too; but a local object may end before the end of its scope.
  public func end() {
    for node in ports.indices { kill(node) }
    try? FileManager.default.removeItem(atPath: folder)
  }

  private var scheme: String { certificates == nil ? "http" : "https" }

  /// The address of a client, such as `http://127.0.0.1:PORT`, of each node.
  public var addresses: [String] { ports.map { "\(scheme)://127.0.0.1:\($0)" } }

  /// The address of a store, such as `etcd+http://127.0.0.1:PORT/PREFIX`.
  public func storeAddress(prefix: String = "") -> String {
    "etcd+\(scheme)://" + ports.map { "127.0.0.1:\($0)" }.joined(separator: ",") + "/\(prefix)"
  }

  /// Ends a node as its operator would.
  public func stop(_ node: Int = 0) { end(node, SIGTERM) }

  /// Kills a node.
  public func kill(_ node: Int = 0) { end(node, SIGKILL) }

  /// Lets a node stand still, with its connections open.
  public func pause(_ node: Int = 0) { signal(node, SIGSTOP) }

  /// Lets it go on.
  public func resume(_ node: Int = 0) { signal(node, SIGCONT) }

  /// Starts a node again that was stopped or killed, and waits until the cluster answers.
  public func start(_ node: Int = 0) throws {
    try launch(node, state: "existing")
    try waitUntilReady()
  }

  /// Writes a snapshot of the cluster.
  public func saveSnapshot(_ path: String, user: String? = nil) throws {
    try control(["snapshot", "save", path], node: 0, user: user)
  }

  /// Ends all nodes, and starts a cluster from a snapshot at the same ports.
  public func restoreSnapshot(_ path: String) throws {
    for node in ports.indices {
      kill(node)
      let data = "restored\(node)-\(UUID().uuidString)"
      _ = try EtcdProcess.run(
        "etcdctl",
        [
          "snapshot", "restore", path, "--data-dir", "\(folder)/\(data)", "--name", "node\(node)",
          "--initial-cluster", cluster, "--initial-advertise-peer-urls",
          "http://127.0.0.1:\(peers[node])",
        ])
      nodes.withLock { $0[node].data = data }
    }
    for node in ports.indices { try launch(node, state: "existing") }
    try waitUntilReady()
  }

  /// Removes what was before a revision.
  public func compact(_ revision: Int64, user: String? = nil) throws {
    try control(["compact", "\(revision)"], node: 0, user: user)
  }

  /// Waits until every node that runs answers.
  public func waitUntilReady() throws {
    let end = ContinuousClock.now + .seconds(30)
    let running = nodes.withLock { nodes in
      nodes.indices.filter { nodes[$0].process != nil }
    }
    for node in running {
      while !isReady(node) {
        guard ContinuousClock.now < end else { throw EtcdProcess.Failed("no answer: \(log(node))") }
        usleep(20_000)
      }
    }
  }

  private func isReady(_ node: Int) -> Bool {
    do {
      try control(["endpoint", "health"], node: node)
      return true
    } catch {
      // The node asks for a login, so it is ready.
      return "\(error)".contains("user name is empty")
    }
  }

  private var cluster: String {
    peers.indices.map { "node\($0)=http://127.0.0.1:\(peers[$0])" }.joined(separator: ",")
  }

  private func launch(_ node: Int, state: String) throws {
    let peer = "http://127.0.0.1:\(peers[node])"
    let data = nodes.withLock { $0[node].data }
    var options = [
      "--name", "node\(node)", "--data-dir", "\(folder)/\(data)",
      "--listen-client-urls", addresses[node], "--advertise-client-urls", addresses[node],
      "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
      "--initial-cluster", cluster, "--initial-cluster-state", state,
      "--heartbeat-interval", "50", "--election-timeout", "500",
      "--logger", "zap", "--log-outputs", "stderr",
    ]
    if let certificates { options += certificates.serverOptions }
    let process = try EtcdProcess.start(
      "etcd", options + arguments, log: "\(folder)/node\(node).log")
    nodes.withLock { $0[node].process = process }
  }

  private func end(_ node: Int, _ signal: Int32) {
    nodes.withLock { nodes in
      guard let process = nodes[node].process else { return }
      // One that stands still ends, too.
      Glibc.kill(process, SIGCONT)
      EtcdProcess.end(process, signal)
      nodes[node].process = nil
    }
  }

  private func signal(_ node: Int, _ signal: Int32) {
    nodes.withLock { nodes in
      if let process = nodes[node].process { Glibc.kill(process, signal) }
    }
  }

  private func log(_ node: Int) -> String {
    let text = try? String(contentsOfFile: "\(folder)/node\(node).log", encoding: .utf8)
    return String(text?.suffix(1000) ?? "")
  }
}
