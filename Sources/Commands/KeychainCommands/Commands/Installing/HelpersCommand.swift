internal import ArgumentParser
internal import KeychainCredentials
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The links by which other programs find the host.
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

  /// Does the work.
  func perform(
    _ context: KeychainCommandContext, _ interface: UserInterface
  ) throws(KeychainError)
}

extension HelpersSubcommand {
  static var manual: CommonManual { KeychainManual.common }

  func run() throws {
    let context = KeychainCommandContext.current
    try reportFailures(as: context.hostName, isQuiet: common.isQuiet) {
      try perform(context, UserInterface(hostName: context.hostName, isQuiet: common.isQuiet))
    }
  }
}

/// The options of every command about links.
struct HelpersCommonOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Write only errors to standard error; also KEYCHAIN_QUIET")
  var quiet = false

  var isQuiet: Bool { quiet || CommonOptions.isQuietByVariable }
}

/// The links that a command is about.
struct HelperLinkOptions: ParsableArguments {
  @Argument(
    help: .init(
      "The helpers: git, docker, which podman uses, too (default: all)", valueName: "name"),
    completion: .list(HelperProgram.allCases.map(\.rawValue)))
  var names: [HelperProgram] = []

  @Option(
    help: .init(
      "The folder of the links (default: the program's own if that is in PATH and can be written, otherwise "
        + "~/.local/bin, or /usr/local/bin for root)", valueName: "dir"),
    completion: .directory)
  var folder: String?

  /// Returns the links.
  func links(_ host: InstalledHost) throws(KeychainError) -> [HelperLink] {
    guard let folder = folder ?? host.usualFolder else { throw .noFolderForLinks }
    // It is printed in lines that a person copies into a shell.
    guard folder.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw .unprintableFolder }
    let path = try absolute(folder)
    return HelperProgram.allCases.filter { names.isEmpty || names.contains($0) }
      .map { HelperLink(helper: $0, folder: path, host: host) }
  }

  private func absolute(_ folder: String) throws(KeychainError) -> String {
    let path = try translated(TrustedPath.fromRoot(folder))
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}

extension HelperProgram: ExpressibleByArgument {
  /// The helper of a client; some clients use that of another one.
  init?(argument: String) {
    switch argument {
    case "podman", "skopeo", "buildah", "helm": self = .docker
    default: self.init(rawValue: argument)
    }
  }
}
