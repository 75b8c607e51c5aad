internal import Glibc
internal import KeychainCredentials
internal import PrephirencesCommandLine
internal import PrephirencesSystem

struct HelperLink {
  /// What is at the path of a link.
  enum State: String {
    /// Nothing.
    case missing

    /// A link to this program.
    case installed

    /// A link to the former place of this program.
    case broken

    /// A file, or a link to something else.
    case foreign
  }

  let helper: HelperProgram
  let folder: String
  let host: InstalledHost

  var path: String { PathText.joined(folder, helper.linkName(of: host.name)) }

  var state: State { state(of: path) }

  private func state(of path: String) -> State {
    var status = stat()
    guard lstat(path, &status) == 0 else { return .missing }
    guard let target = PathText.target(ofLink: path) else { return .foreign }
    if let identity = FileIdentity(path) {
      return identity == host.identity ? .installed : .foreign
    }
    let names = [host.name, PathText.name(of: host.path)]
    let isOurs = names.contains { $0.hasSameBytes(as: PathText.name(of: target)) }
    return isOurs ? .broken : .foreign
  }

  /// Creates the link, or replaces a broken one; returns `false` if it exists already.
  func install() throws -> Bool {
    // Somebody else may install or remove it at the same time.
    for _ in 0..<Self.attempts {
      switch state {
      case .installed: return false
      case .foreign: throw KeychainError.foreignHelper(path)
      case .broken: try removeOwn()
      case .missing:
        if symlink(host.linkText(in: folder), path) == 0 { return true }
        guard errno == EEXIST else { throw KeychainError.cannotWrite(path, errno: errno) }
      }
    }
    throw KeychainError.foreignHelper(path)
  }

  private static let attempts = 100

  /// Removes the link; returns `false` if there is none.
  func remove() throws -> Bool {
    switch state {
    case .missing: return false
    case .foreign: throw KeychainError.foreignHelper(path)
    case .installed, .broken:
      try removeOwn()
      return true
    }
  }

  /// Removes our link, but not a file that somebody puts into its place meanwhile: the link is
  /// first renamed, and then examined.
  private func removeOwn() throws {
    let taken = "\(path).\(UInt64.random(in: .min ... .max)).old"
    guard rename(path, taken) == 0 else {
      guard errno == ENOENT else { throw KeychainError.cannotWrite(path, errno: errno) }
      return
    }
    guard state(of: taken) == .foreign else {
      unlink(taken)
      return
    }
    // Put it back without replacing anything; only a folder cannot have a hard link.
    if link(taken, path) == 0 {
      unlink(taken)
    } else if errno != EPERM || rename(taken, path) != 0 {
      throw KeychainError.foreignHelper(taken)
    }
    throw KeychainError.foreignHelper(path)
  }
}

extension KeychainError {
  static func foreignHelper(_ path: String) -> Self {
    Self(
      .refused, "'\(path)' is not a link to this program, and stays as it is",
      recovery: "remove it if nothing needs it, or choose another folder with --folder")
  }

  static let unprintableFolder = KeychainError(
    .invalidArgument, "the name of the folder has control characters",
    recovery: "choose another one with --folder")

  static let noFolderForLinks = KeychainError(
    .invalidArgument, "no folder for the links is known, as HOME is not set",
    recovery: "name one with --folder")
}

/// Whether a client can use the host.
struct HelperStatus {
  let helper: HelperProgram

  /// The path of the link that clients run, or of a broken one, or else where it would be.
  let path: String?

  let state: HelperLink.State

  /// Whether clients find the link: it is the first of its name in `PATH`.
  let isInPath: Bool

  /// The configurations that name the helper.
  let configuredBy: [ClientConfiguration.Place]

  /// Whether the link answers; `nil` if it was not tried.
  private(set) var works: Bool?

  /// Examines the link and the client's configuration.
  init(_ helper: HelperProgram, _ host: InstalledHost) {
    self.helper = helper
    let name = helper.linkName(of: host.name)
    let folders = host.search.folders + [host.usualFolder].compactMap(\.self)
    let links = folders.map { HelperLink(helper: helper, folder: $0, host: host) }
    // A client skips a program that it cannot run. A program that it does not find matters if it is
    // ours.
    let found = host.search.program(name)
    let link =
      links.first { $0.path == found }
      ?? [HelperLink.State.installed, .broken, .foreign].lazy
      .compactMap { state in links.first { $0.state == state } }.first
    path =
      (link ?? host.usualFolder.map { HelperLink(helper: helper, folder: $0, host: host) })?.path
    state = link?.state ?? .missing
    isInPath = found != nil && link?.path == found
    configuredBy = ClientConfiguration(host: host).places(naming: helper)
  }

  /// Runs the link if it leads to this program.
  mutating func tryLink(in environment: EnvironmentVariables) {
    guard state == .installed, let path else { return }
    works = ProgramRun(path, [helper.trial], in: environment, within: .seconds(5))?.exitCode == 0
  }

  /// Whether the client is configured to use a helper that it does not find.
  var isConfiguredButUnusable: Bool {
    fault != nil
      || configuredBy.contains(where: \.runsLink)
        && (state != .installed || !isInPath || works == false)
  }

  /// The first configuration of the helper that does not work.
  var fault: (place: String, ClientConfiguration.Fault)? {
    configuredBy.lazy.compactMap { place in place.fault.map { (place.name, $0) } }.first
  }

  var words: String {
    switch state {
    case .missing where !configuredBy.isEmpty && !configuredBy.contains(where: \.runsLink):
      fault == nil ? "configured, needs no link" : "configured, but not usable"
    case .missing: "not installed"
    case .foreign: "another program"
    case .broken: "broken: it leads to where the program was"
    case .installed where !isInPath: "installed, but not found in PATH"
    case .installed: works == false ? "installed, but does not answer" : "installed"
    }
  }
}

/// What a person adds to the configuration of a client.
///
/// It is never added automatically: these files belong to the clients, and other machines may share
/// them.
struct HelperSetup {
  let host: String

  /// Returns the lines for the client that runs a link.
  func text(_ link: HelperLink) -> String {
    switch link.helper {
    case .git:
      """
      git: one of these; the second also where PATH lacks the folder, as in cron
        git config --global credential.helper \(ShellText.word(host))
        git config --global credential.helper \(ShellText.word(Self.gitCommand(link.path)))

      """
    case .docker:
      """
      docker, helm: in ~/.docker/config.json, for all registries or for one
        { "credsStore": "\(host)" }
        { "credHelpers": { "registry.example.com": "\(host)" } }
      podman, skopeo, buildah: in ~/.config/containers/registries.conf, before the first [table]
        credential-helpers = ["\(host)"]
      All of them look in PATH only: cron and services need \(link.folder) there

      """
    }
  }

  /// The value with which git runs a program; a shell reads it, and git takes only an absolute path
  /// for a path.
  private static func gitCommand(_ path: String) -> String {
    let word = ShellText.word(path)
    return word == path ? path : "!" + word
  }

  /// The configuration that needs no link.
  var swiftPM: String {
    """
    SwiftPM: no link and no file
      \(KeychainCommandContext.current.commandPath) run --netrc HOST -- \
    swift package --netrc-file @netrc@ resolve

    """
  }
}
