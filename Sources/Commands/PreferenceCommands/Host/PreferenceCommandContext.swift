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
