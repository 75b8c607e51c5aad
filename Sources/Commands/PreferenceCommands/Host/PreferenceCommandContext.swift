public import ArgumentParser
internal import PrephirencesCommandLine

/// The names and defaults of the preference commands in the program that mounts them.
public struct PreferenceCommandContext: Hashable, Sendable {
  /// The name in messages, such as `mytool`.
  public var hostName: String

  /// The words before the name of a command, such as `mytool preferences`; help and hints use them.
  public var commandPath: String

  /// The domain if `--domain` is not given; `nil` if it must be given.
  public var defaultDomain: String?

  /// Creates the context of a host from names.
  ///
  /// - Parameters:
  ///   - hostName: The name in messages; `nil` for the name of the program.
  ///   - commandPath: The words before the name of a command; `nil` for the host's name.
  ///   - defaultDomain: The domain if none is given; `nil` if it must be given.
  public init(
    hostName: String? = nil, commandPath: String? = nil, defaultDomain: String? = nil
  ) {
    let hostName = hostName ?? CommandHost.current.hostName
    self.hostName = hostName
    self.commandPath = commandPath ?? hostName
    self.defaultDomain = defaultDomain
  }

  /// The context that the program has set; `nil` for that of its root command.
  @TaskLocal package static var given: Self?

  /// Calls `body`, in which this is the context of the commands.
  ///
  /// A program that starts by another entry than ``PreferenceCommandLine`` sets its context with it:
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
  ///
  /// - Parameter body: The entry of the program.
  /// - Returns: What `body` returns.
  public func asCurrent<Result>(_ body: () throws -> Result) rethrows -> Result {
    try Self.$given.withValue(self) { try body() }
  }

  /// Calls `body`, in which this is the context of the commands.
  ///
  /// - Parameter body: The entry of the program.
  /// - Returns: What `body` returns.
  public func asCurrent<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    try await Self.$given.withValue(self) { try await body() }
  }
}

extension PreferenceCommandContext {
  /// The context of the commands that run in this task: the one that the program has set, otherwise
  /// that of its root command.
  public static var current: Self {
    if let given { return given }
    return CommandHost.current.root.map { Self($0) } ?? Self()
  }

  /// Creates the context of a host from its root command, which has the commands among its
  /// subcommands or theirs.
  ///
  /// - Parameters:
  ///   - root: The root command.
  ///   - defaultDomain: The domain if none is given; `nil` if it must be given.
  public init(_ root: any ParsableCommand.Type, defaultDomain: String? = nil) {
    self.init(
      hostName: root._commandName, commandPath: Self.words(of: root).map { Words.joined($0) },
      defaultDomain: defaultDomain)
  }

  /// Returns the words from the root to the commands; `nil` if it doesn't have them.
  private static func words(of root: any ParsableCommand.Type) -> [String]? {
    let group = PreferenceCommandGroupName.name
    if let words = root.words(leadingTo: isGroup) { return words + [group] }
    if let words = root.words(leadingTo: isPart) { return words }
    return isGroup(root) ? [group] : nil
  }

  // Asking the runtime for conformances takes long, and is for commands that are not known.

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

/// The name of the group of all commands.
enum PreferenceCommandGroupName {
  static let name = "preferences"
}

/// A command of this library, by which the place of all is found in a program.
protocol PreferenceCommandPart: PackageCommand {
  /// Whether it is the group of the others.
  static var isGroup: Bool { get }
}

extension PreferenceCommandContext {
  /// The option that names a domain in examples; empty in a host that has its own.
  var domainExample: String { defaultDomain == nil ? " --domain com.example.web" : "" }
}

extension ParsableCommand {
  /// The words before the name of a command, for examples in help.
  static var preferencesPath: String { PreferenceCommandContext.current.commandPath }

  /// The option that names a domain in examples; empty in a host that has its own.
  static var domainExample: String { PreferenceCommandContext.current.domainExample }
}
