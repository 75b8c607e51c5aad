public import ArgumentParser
internal import Glibc
package import PrephirencesCommandLine
internal import PrephirencesSystem

/// The names and defaults of the preference commands in the program that mounts them.
public struct PreferenceCommandContext: Sendable {
  /// The name in messages, such as `mytool`.
  public var hostName: String

  /// The words before the name of a command, such as `mytool preferences`, for help and hints.
  public var commandPath: String

  /// The domain if `--domain` is not given; `nil` if it must be given.
  public var defaultDomain: String?

  /// The domains of this machine.
  var domains: any DomainStores = FileDomains()

  /// Fails unless a person agrees to a question, which begins with the host's name.
  var confirming: @Sendable (_ question: String) throws(CommandLineError) -> Void = {
    question throws(CommandLineError) in try Confirmation.require(question)
  }

  /// Creates the context of a host from names.
  ///
  /// - Parameters:
  ///   - hostName: The name in messages; `nil` for the name of the program.
  ///   - commandPath: The words before the name of a command; `nil` for the host's name.
  ///   - defaultDomain: The domain if none is given; `nil` if it must be given.
  public init(hostName: String? = nil, commandPath: String? = nil, defaultDomain: String? = nil) {
    let hostName = hostName ?? CommandHost.current.hostName
    self.hostName = hostName
    self.commandPath = commandPath ?? hostName
    self.defaultDomain = defaultDomain
  }

  /// The context that the program has set; `nil` for that of its root command.
  @TaskLocal package static var given: Self?

  /// Calls `body` with this as the context of the commands, and returns its result.
  ///
  /// A program that does not start with ``PreferenceCommandLine`` sets its context with it:
  ///
  /// ```swift
  /// @main struct MyTool: ParsableCommand {
  ///   static let configuration = CommandConfiguration(subcommands: [PreferencesCommand.self])
  ///
  ///   static func main() {
  ///     PreferenceCommandContext(Self.self, defaultDomain: "com.example.mytool").asCurrent {
  ///       main(nil)
  ///     }
  ///   }
  /// }
  /// ```
  public func asCurrent<Result>(_ body: () throws -> Result) rethrows -> Result {
    try Self.$given.withValue(self) { try body() }
  }

  /// Calls `body` with this as the context of the commands, and returns its result.
  public func asCurrent<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    try await Self.$given.withValue(self) { try await body() }
  }
}

extension PreferenceCommandContext {
  /// The context of the commands in this task: the one that the program has set, or else that of
  /// its root command.
  public static var current: Self {
    if let given { return given }
    return CommandHost.current.root.map { Self($0) } ?? Self()
  }

  /// Creates the context of a host from its root command, which has the commands among its
  /// subcommands or theirs.
  ///
  /// `defaultDomain` is the domain if none is given; `nil` if it must be given.
  public init(_ root: any ParsableCommand.Type, defaultDomain: String? = nil) {
    self.init(
      hostName: root._commandName, commandPath: Self.words(of: root).map { Words.joined($0) },
      defaultDomain: defaultDomain)
  }

  /// Returns the words from the root to the commands, or `nil` if it doesn't have them.
  private static func words(of root: any ParsableCommand.Type) -> [String]? {
    let group = PreferenceCommandGroupName.name
    if let words = root.words(leadingTo: isGroup) { return words + [group] }
    if let words = root.words(leadingTo: isPart) { return words }
    return isGroup(root) ? [group] : nil
  }

  // Asking the runtime for conformances takes long, and is only for unknown commands.

  private static func isGroup(_ command: any ParsableCommand.Type) -> Bool {
    guard MountedCommands.library(of: command) == nil else { return false }
    return (command as? any PreferenceCommandPart.Type)?.isGroup ?? false
  }

  private static func isPart(_ command: any ParsableCommand.Type) -> Bool {
    if let library = MountedCommands.library(of: command) {
      return library == PreferenceCommandGroupName.name
    }
    return command is any PreferenceCommandPart.Type
  }
}

enum PreferenceCommandGroupName {
  static let name = "preferences"
}

/// A command of this library, with which the place of all is found in a program.
protocol PreferenceCommandPart: PackageCommand {
  /// Whether it is the group of the others.
  static var isGroup: Bool { get }
}

extension PreferenceCommandContext {
  /// Returns a domain of this machine.
  func domain(named name: String) -> PreferenceDomain {
    PreferenceDomain(named: name, in: domains.store(named: name))
  }

  /// The names of this machine's domains; empty if they cannot be found out.
  var domainNames: [String] { (try? domains.names()) ?? [] }

  /// Asks for agreement; only `y` and `yes` agree.
  func confirm(_ question: String) throws(CommandLineError) {
    try confirming("\(hostName): \(question) [y/N] ")
  }

  /// The option that names a domain in examples; empty if the host has its own.
  var domainExample: String { defaultDomain == nil ? " --domain com.example.web" : "" }
}

extension ParsableCommand {
  /// The words before the name of a command, for examples in help.
  static var preferencesPath: String { PreferenceCommandContext.current.commandPath }

  /// The option that names a domain in examples; empty if the host has its own.
  static var domainExample: String { PreferenceCommandContext.current.domainExample }
}

/// The command `preferences`: the preferences of programs, which persist.
///
/// A command-line program mounts it as a subcommand, so that its users can read and change its
/// settings:
///
/// ```swift
/// @main struct MyTool: ParsableCommand {
///   static let configuration = CommandConfiguration(
///     commandName: "mytool", subcommands: [Deploy.self, PreferencesCommand.self])
///
///   static func main() {
///     PreferenceCommandLine.main(
///       Self.self,
///       context: PreferenceCommandContext(Self.self, defaultDomain: "com.example.mytool"))
///   }
/// }
/// ```
///
/// `mytool preferences write port 8080 --type int` then changes what
/// `DurablePreferences(suiteName: "com.example.mytool")` reads. A program that mounts the commands
/// without a group lists ``subcommands`` among its own.
///
/// Help, hints and errors use the program's name.
public struct PreferencesCommand: ParsableCommand {
  static let name = PreferenceCommandGroupName.name

  /// The commands of the group, in the order of the help: `read`, `write`, `delete`, `list`,
  /// `watch`, `import`, `export`, `accept-restored` and `sync`.
  public static let subcommands: [any ParsableCommand.Type] = MountedCommands.list(
    [
      ReadCommand.self, WriteCommand.self, DeleteCommand.self, PreferenceListCommand.self,
      WatchCommand.self, ImportCommand.self, ExportCommand.self, AcceptRestoredCommand.self,
      SyncCommand.self,
    ], of: name)

  /// The definition of the command.
  public static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Read and change preferences",
    discussion: """
      The preferences of a program are a domain. Each value has a type, and persists when the \
      command has ended.

      Example:
        \(preferencesPath) write port 8080 --type int\(domainExample)
        \(preferencesPath) read port\(domainExample)
      """,
    subcommands: subcommands)

  /// Creates the command; the argument parser sets its properties.
  public init() {}

  /// Fails with ``/ArgumentParser/ExitCode`` 64, and reports that a subcommand is missing.
  public func run() throws {
    let context = PreferenceCommandContext.current
    CommandHost.current.interface(context.hostName).reportMissingCommand([context.commandPath])
    throw ExitCode(ExitCodes.usage)
  }
}

extension PreferencesCommand: PreferenceCommandPart {
  static var isGroup: Bool { true }
  package static var manual: CommonManual { PreferenceManual.common }
}

/// The entry of a program that has preference commands.
///
/// A program that also mounts the keychain's commands starts with `KeychainCommandLine.main`. If it
/// has its own ``PreferenceCommandContext``, it sets that around the call.
public enum PreferenceCommandLine {
  /// Runs the program's command line, and ends the process with the exit code.
  ///
  /// Call it first: closed standard streams must be found before a file is opened in their place.
  /// A command line that names a group of commands without a subcommand ends with 64.
  ///
  /// - Parameters:
  ///   - root: The program's root command, with the commands among its subcommands or theirs.
  ///   - context: The names in messages, and the defaults; `nil` for the names of the root command.
  public static func main(
    _ root: any ParsableCommand.Type, context: PreferenceCommandContext? = nil
  ) -> Never {
    StandardDescriptors.prepare()
    let context = context ?? PreferenceCommandContext(root)
    exit(context.asCurrent { invocation(root, context).run() })
  }

  /// Runs the command line of a program with asynchronous commands, and ends the process with the
  /// exit code.
  ///
  /// The parameters are those of ``main(_:context:)-(ParsableCommand.Type,_)``.
  public static func main(
    _ root: any AsyncParsableCommand.Type, context: PreferenceCommandContext? = nil
  ) async -> Never {
    StandardDescriptors.prepare()
    let context = context ?? PreferenceCommandContext(root)
    exit(await context.asCurrent { await invocation(root, context).runAsync() })
  }

  /// Returns a run of a command line with this process's console and environment.
  static func invocation(
    _ root: any ParsableCommand.Type, _ context: PreferenceCommandContext,
    _ arguments: ProgramArguments = .process
  ) -> Invocation {
    let host = CommandHost(
      hostName: context.hostName, root: root, isWholeProgram: true,
      entry: "PreferenceCommandLine.main", arguments: arguments)
    return Invocation(root: root, arguments: Array(arguments.texts.dropFirst()), host: host)
  }
}

/// The parts of manual pages that no command defines; `Documentation` lists the same codes and
/// variables.
enum PreferenceManual {
  static let common = CommonManual(
    mainPage: nil,
    environment: [
      ("XDG_CONFIG_HOME", "the folder of the preferences; else .config in the home folder"),
      ("TMPDIR", "the folder of copies of preferences that can only be read; else /tmp"),
      (
        "ETCDCTL_ENDPOINTS, ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY, ETCDCTL_USER",
        "complete an address of a shared store that names no endpoints"
      ),
      ("NO_COLOR", "if not empty, messages have no colours"),
    ],
    files: [
      ("~/.config/DOMAIN.preferences", "the preferences of a domain ($XDG_CONFIG_HOME)"),
      (
        "~/.config/prephirences/shared/DOMAIN.json",
        "where the preferences of a domain are shared with other machines"
      ),
      ("~/.config/DOMAIN.plist", "what UserDefaults has saved; imported once, and kept"),
    ],
    exitCodes: ExitCodes.all.filter { codes.contains($0.code) })

  private static let codes: Set<Int32> = [
    ExitCodes.success, ExitCodes.otherFailure, ExitCodes.notFound, ExitCodes.usage,
    ExitCodes.badData, ExitCodes.noStore, ExitCodes.internalFailure,
    ExitCodes.insufficientMemory, ExitCodes.inputOutput,
    ExitCodes.tryAgain, ExitCodes.locked, ExitCodes.incorrectSecret, ExitCodes.refused,
    ExitCodes.cancelled,
  ]
}
