internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Creates links.
struct HelpersInstallCommand: HelpersSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "install",
    abstract: "Create the links by which git and docker find this program",
    usage: usage("helpers install [<name>]... [--folder <dir>]"),
    discussion: """
      A file that is not a link to this program is never replaced. What belongs into the configuration \
      of each client is printed; it is not changed.

      Example:
        \(keychainPath) helpers install
        \(keychainPath) helpers install docker --folder ~/bin
      """)

  @OptionGroup var options: HelperLinkOptions

  @OptionGroup(title: "Common options") var common: HelpersCommonOptions

  func perform(
    _ context: KeychainCommandContext, _ interface: UserInterface
  ) throws(KeychainError) {
    let host = try InstalledHost(context)
    let links = try options.links(host)
    // Before anything is changed.
    for link in links where link.state == .foreign { throw .foreignHelper(link.path) }
    if let folder = links.first?.folder { try Self.makeFolder(folder) }
    for link in links {
      let isNew = try link.install()
      interface.say("\(link.path) \(isNew ? "leads" : "leads already") to \(host.path)")
    }
    Self.warn(links, host, interface)
    let setup = HelperSetup(host: host.name)
    let other = options.names.isEmpty ? setup.swiftPM : ""
    try CommandOutput.write(links.map { setup.text($0) }.joined() + other)
  }

  private static func makeFolder(_ folder: String) throws(KeychainError) {
    var parts: [String] = []
    var part = folder
    while FileIdentity(part) == nil, part != "/" {
      parts.append(part)
      part = PathText.folder(of: part)
    }
    for part in parts.reversed() {
      guard mkdir(part, 0o755) == 0 || errno == EEXIST else {
        throw .cannotWrite(part, errno: errno)
      }
    }
  }

  /// Says what keeps clients from finding the links.
  private static func warn(
    _ links: [HelperLink], _ host: InstalledHost, _ interface: UserInterface
  ) {
    guard let folder = links.first?.folder else { return }
    if Self.canBeChangedByOthers(folder) {
      interface.say("other users can write to \(folder), and replace the links")
      interface.hint("change its mode or owner, or choose another folder with --folder")
    }
    guard host.search.contains(folder) else {
      interface.say("\(folder) is not in PATH, so clients do not find what lies there")
      return interface.hint("add it to PATH, or choose another folder with --folder")
    }
    for link in links {
      guard let found = host.search.program(PathText.name(of: link.path)),
        FileIdentity(found) != host.identity
      else { continue }
      interface.say("\(found) comes earlier in PATH, so clients run that one")
    }
  }

  /// Whether a folder belongs to another user, or everybody can write to it.
  private static func canBeChangedByOthers(_ folder: String) -> Bool {
    var status = stat()
    guard stat(folder, &status) == 0 else { return false }
    return status.st_mode & S_IWOTH != 0 || ![0, geteuid()].contains(status.st_uid)
  }
}
