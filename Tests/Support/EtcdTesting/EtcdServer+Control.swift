internal import Foundation

extension EtcdServer {
  /// The node that is the leader; `nil` if there is none.
  public func leader() -> Int? {
    ports.indices.first { node in
      guard let text = try? control(["endpoint", "status", "-w", "json"], node: node) else {
        return false
      }
      let list = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
      guard let status = list?.first?["Status"] as? [String: Any],
        let header = status["header"] as? [String: Any]
      else { return false }
      return "\(status["leader"] ?? 0)" == "\(header["member_id"] ?? 1)"
    }
  }

  /// Runs `etcdctl` for a node, or for all, as `NAME:PASSWORD`, and returns what it prints.
  @discardableResult
  public func control(
    _ arguments: [String], node: Int? = nil, user: String? = nil
  ) throws -> String {
    let asked = node.map { [addresses[$0]] } ?? addresses
    var options = ["--endpoints", asked.joined(separator: ","), "--command-timeout", "5s"]
    if let certificates {
      options += [
        "--cacert", certificates.authority, "--cert", certificates.certificate, "--key",
        certificates.key,
      ]
    }
    if let user { options += ["--user", user] }
    return try EtcdProcess.run("etcdctl", options + arguments)
  }
}
