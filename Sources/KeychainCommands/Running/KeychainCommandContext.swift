/// How the keychain commands speak, and what they assume, inside the program that mounts them.
public struct KeychainCommandContext: Hashable, Sendable {
  /// The name under which messages are printed, such as `mytool`.
  public var hostName: String

  /// The words that run the commands, such as `mytool keychain`; hints use them.
  public var commandPath: String

  /// The service of a credential when none is given.
  public var defaultService: String

  /// Whether the process ends with the command.
  var isWholeProgram = false

  /// Describes a host.
  ///
  /// - Parameters:
  ///   - hostName: The name under which messages are printed; `nil` for the name of the program.
  ///   - commandPath: The words that run the commands; `nil` for the host's name and `keychain`.
  ///   - defaultService: The service of a credential when none is given.
  public init(
    hostName: String? = nil, commandPath: String? = nil, defaultService: String = "default"
  ) {
    let hostName = hostName ?? Self.programName
    self.hostName = hostName
    self.commandPath = commandPath ?? "\(hostName) keychain"
    self.defaultService = defaultService
  }

  /// The context of the commands that run in this task.
  @TaskLocal public static var current = KeychainCommandContext()

  private static var programName: String {
    let name = (CommandLine.arguments.first ?? "").split(separator: "/").last.map(String.init)
    return name ?? "keychain"
  }
}
