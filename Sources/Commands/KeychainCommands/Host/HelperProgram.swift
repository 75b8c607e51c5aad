/// A program that a client runs by a name of its own, and the command that answers it.
///
/// A client such as docker runs `docker-credential-NAME` from `PATH`, without further words. A link
/// of that name that leads to the host runs the host's command. Another client is another case
/// here; everything else follows from its properties.
enum HelperProgram: String, CaseIterable {
  case docker, git

  /// The command that answers the client.
  var command: String {
    switch self {
    case .docker: "docker-credential"
    case .git: "git-credential"
    }
  }

  /// The program that runs the helper.
  var client: String { rawValue }

  /// An operation that reads no credential, by which a link is tried.
  var trial: String {
    switch self {
    case .docker: "version"
    case .git: "capability"
    }
  }

  /// Returns the name of the link that leads to a host.
  func linkName(of hostName: String) -> String { "\(command)-\(hostName)" }

  /// Finds the helper that a program is called as.
  ///
  /// Only the last part of the path counts, and it decides about nothing but the command: whoever
  /// starts a program chooses its name freely.
  ///
  /// - Parameters:
  ///   - program: The first argument of the process, which may be a path, empty or missing.
  ///   - hostName: The name of the host, which the name of its links ends with.
  init?(calledAs program: String?, hostName: String) {
    let name = (program ?? "").utf8.split(separator: UInt8(ascii: "/")).last ?? []
    guard
      let helper = Self.allCases.first(where: {
        $0.linkName(of: hostName).utf8.elementsEqual(name)
      })
    else { return nil }
    self = helper
  }
}
