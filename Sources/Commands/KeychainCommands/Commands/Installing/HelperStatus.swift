internal import KeychainCredentials

/// Whether a client can use the host.
struct HelperStatus {
  let helper: HelperProgram

  /// The path of the link that clients run, or that is broken; otherwise where it would be.
  let path: String?

  let state: HelperLink.State

  /// Whether clients find the link: it is the first of its name in `PATH`.
  let isInPath: Bool

  /// Where the client is told to use it.
  let configuredBy: [ClientConfiguration.Place]

  /// Whether the link answers; `nil` if it was not tried.
  private(set) var works: Bool?

  /// Looks at the link and at the configuration of the client.
  init(_ helper: HelperProgram, _ host: InstalledHost) {
    self.helper = helper
    let name = helper.linkName(of: host.name)
    let folders = host.search.folders + [host.usualFolder].compactMap(\.self)
    let links = folders.map { HelperLink(helper: helper, folder: $0, host: host) }
    // A client skips what it cannot run. What it does not find is of interest if it is ours.
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

  /// Runs the link, if it leads to this program.
  mutating func tryLink() {
    guard state == .installed, let path else { return }
    works = ProgramRun(path, [helper.trial], within: .seconds(5))?.exitCode == 0
  }

  /// Whether the client is told to use what it does not find.
  var isConfiguredButUnusable: Bool {
    fault != nil
      || configuredBy.contains(where: \.runsLink)
        && (state != .installed || !isInPath || works == false)
  }

  /// The first place that names the helper, and is of no use to the client.
  var fault: (place: String, ClientConfiguration.Fault)? {
    configuredBy.lazy.compactMap { place in place.fault.map { (place.name, $0) } }.first
  }

  /// The state in a few words.
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
