/// A cluster of etcd on loopback, for tests.
///
/// It ends with the object, or with the process.
public final class EtcdServer: Sendable {
  /// The address of a client, such as `http://127.0.0.1:PORT`, of each node.
  public let addresses: [String] = []

  /// Starts a cluster, and waits until it answers.
  public init(nodes: Int = 1) throws {}
}
