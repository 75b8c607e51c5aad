internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The links with which other programs find the host.
struct HelpersCommand: KeychainCommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "helpers",
    abstract: "Set up git, docker and their relatives to use the keychain",
    subcommands: [
      HelpersInstallCommand.self, HelpersListCommand.self, HelpersRemoveCommand.self,
    ])
}

/// A command about links; it needs no store.
protocol HelpersSubcommand: PackageCommand {
  var common: HelpersCommonOptions { get }

  func perform(in session: HelpersSession) throws
}

extension HelpersSubcommand {
  static var manual: CommonManual { KeychainManual.common }

  func run() throws {
    let (context, host) = (KeychainCommandContext.current, CommandHost.current)
    let isQuiet = common.quiet || host.environment.asksForQuiet
    try reportFailures(as: context.hostName, isQuiet: isQuiet) {
      do {
        try perform(in: HelpersSession(context, host, isQuiet: isQuiet))
      } catch {
        throw KeychainError.converted(error)
      }
    }
  }
}

struct HelpersSession {
  let host: InstalledHost
  let interface: UserInterface
  let output: CommandOutput

  init(_ context: KeychainCommandContext, _ host: CommandHost, isQuiet: Bool) throws {
    self.host = try InstalledHost(context, host.environment, executable: host.executable)
    interface = host.interface(context.hostName, isQuiet: isQuiet)
    output = CommandOutput(host.console.output)
  }
}

struct HelpersCommonOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Write only errors to standard error; also KEYCHAIN_QUIET")
  var quiet = false
}

struct HelperLinkOptions: ParsableArguments {
  @Argument(
    help: .init(
      "The helpers: git, docker, which podman uses, too (default: all)", valueName: "name"),
    completion: .list(HelperProgram.allCases.map(\.rawValue)))
  var names: [HelperProgram] = []

  @Option(
    help: .init(
      "The folder of the links (default: the program's own if that is in PATH and can be written, "
        + "otherwise ~/.local/bin, or /usr/local/bin for root)", valueName: "dir"),
    completion: .directory)
  var folder: String?

  func links(_ host: InstalledHost) throws -> [HelperLink] {
    guard let folder = folder ?? host.usualFolder else { throw KeychainError.noFolderForLinks }
    // A person copies the path into a shell.
    guard folder.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw KeychainError.unprintableFolder
    }
    let path = try absolute(folder)
    return HelperProgram.allCases.filter { names.isEmpty || names.contains($0) }
      .map { HelperLink(helper: $0, folder: path, host: host) }
  }

  private func absolute(_ folder: String) throws -> String {
    let path = try TrustedPath.fromRoot(folder)
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}

extension HelperProgram: ExpressibleByArgument {
  /// The helper of a client; some clients share one.
  init?(argument: String) {
    switch argument {
    case "podman", "skopeo", "buildah", "helm": self = .docker
    default: self.init(rawValue: argument)
    }
  }
}

struct HelpersListCommand: HelpersSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List which helpers are set up, and whether they work",
    usage: usage("helpers list [--json]"),
    discussion: """
      Each link is run once, without any credential. In a pipe the fields are separated by tabs: \
      the helper, the state of its link, the path of the link, and what names the helper in the \
      configuration of its client.

      Example:
        \(keychainPath) helpers list
      """,
    aliases: ["ls"])

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: HelpersCommonOptions

  func perform(in session: HelpersSession) throws {
    let host = session.host
    let all = HelperProgram.allCases.map { helper in
      var status = HelperStatus(helper, host)
      status.tryLink(in: host.environment)
      return status
    }
    if json { return try session.output.write(json: all) }
    let table = TextTable(
      header: ["HELPER", "STATE", "LINK", "CONFIGURED BY"],
      rows: all.map { status in
        [
          status.helper.client, status.words, status.path ?? "",
          status.configuredBy.map(\.name).joined(separator: ", "),
        ]
      })
    try session.output.write(table)
    for status in all where status.isConfiguredButUnusable {
      session.interface.hint(NextHelperStep.text(status))
    }
  }
}

extension HelperStatus: JSONConvertible {
  var json: JSONValue {
    let faulty = configuredBy.filter { $0.fault != nil }.map(\.name)
    return .members([
      ("helper", helper.client), ("state", state.rawValue), ("link", path), ("inPath", isInPath),
      ("configuredBy", configuredBy.map(\.name)), ("unusable", faulty.isEmpty ? nil : faulty),
      ("works", works),
    ])
  }
}

/// What to do about a helper that a client is configured to use but cannot.
enum NextHelperStep {
  static func text(_ status: HelperStatus) -> String {
    let name = status.helper.client
    if let (place, fault) = status.fault { return text(place, fault, name) }
    let command = "'\(KeychainCommandContext.current.commandPath) helpers install \(name)'"
    return switch status.state {
    case .missing, .broken:
      "\(name) is told to use this program, but finds no link that leads to it: run \(command)"
    case .foreign:
      "\(name) is told to use this program, but finds another one, '\(status.path ?? "")': "
        + "remove it, or put the folder of the link before it in PATH"
    case .installed where !status.isInPath:
      "\(name) is told to use this program, but '\(status.path ?? "")' is not found in PATH: "
        + "add its folder"
    case .installed:
      "\(name) is told to use this program, but '\(status.path ?? "")' does not answer: "
        + "run it with '\(status.helper.trial)' to see why"
    }
  }

  private static func text(
    _ place: String, _ fault: ClientConfiguration.Fault, _ client: String
  ) -> String {
    switch fault {
    case .missingProgram(let program):
      "'\(place)' of \(client) names '\(program)', which is not there or cannot be run: set it as "
        + "'\(KeychainCommandContext.current.commandPath) helpers install \(client)' says"
    case .otherProgram(let program):
      "'\(place)' of \(client) names '\(program)', which is another program: set it as "
        + "'\(KeychainCommandContext.current.commandPath) helpers install \(client)' says"
    case .notJSON: "'\(place)' is not JSON that \(client) can read: repair or remove it"
    }
  }
}

struct HelpersInstallCommand: HelpersSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "install",
    abstract: "Create the links by which git and docker find this program",
    usage: usage("helpers install [<name>]... [--folder <dir>]"),
    discussion: """
      A file that is not a link to this program is never replaced. What belongs into the \
      configuration of each client is printed; it is not changed.

      Example:
        \(keychainPath) helpers install
        \(keychainPath) helpers install docker --folder ~/bin
      """)

  @OptionGroup var options: HelperLinkOptions

  @OptionGroup(title: "Common options") var common: HelpersCommonOptions

  func perform(in session: HelpersSession) throws {
    let host = session.host
    let links = try options.links(host)
    // Checked before anything is changed.
    for link in links where link.state == .foreign { throw KeychainError.foreignHelper(link.path) }
    if let folder = links.first?.folder { try Self.makeFolder(folder) }
    for link in links {
      let isNew = try link.install()
      session.interface.say("\(link.path) \(isNew ? "leads" : "leads already") to \(host.path)")
    }
    Self.warn(links, host, session.interface)
    let setup = HelperSetup(host: host.name)
    let other = options.names.isEmpty ? setup.swiftPM : ""
    try session.output.write(links.map { setup.text($0) }.joined() + other)
  }

  private static func makeFolder(_ folder: String) throws {
    var parts: [String] = []
    var part = folder
    while FileIdentity(part) == nil, part != "/" {
      parts.append(part)
      part = PathText.folder(of: part)
    }
    for part in parts.reversed() {
      guard mkdir(part, 0o755) == 0 || errno == EEXIST else {
        throw KeychainError.cannotWrite(part, errno: errno)
      }
    }
  }

  /// Reports what prevents clients from finding the links.
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

struct HelpersRemoveCommand: HelpersSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove the links by which git and docker find this program",
    usage: usage("helpers remove [<name>]... [--folder <dir>]"),
    discussion: """
      A file that is not a link to this program stays. Take the helper out of the configuration of \
      its client, too.

      Example:
        \(keychainPath) helpers remove docker
      """,
    aliases: ["rm", "uninstall"])

  @OptionGroup var options: HelperLinkOptions

  @OptionGroup(title: "Common options") var common: HelpersCommonOptions

  func perform(in session: HelpersSession) throws {
    let links = try options.links(session.host)
    for link in links where link.state == .foreign { throw KeychainError.foreignHelper(link.path) }
    for link in links {
      session.interface.say(
        try link.remove() ? "removed \(link.path)" : "\(link.path) is not there")
    }
  }
}
