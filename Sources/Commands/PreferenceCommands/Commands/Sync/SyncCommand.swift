internal import ArgumentParser
internal import PrephirencesCommandLine

/// The commands for suites that are shared with other machines.
struct SyncCommand: PreferenceCommandPart {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Share preferences with other machines",
    discussion: """
      A suite that is shared has its values on this machine, and is in step with those of other \
      machines through etcd. Reading and writing never wait for it. Programs that share a suite keep \
      it in step while they run; 'run' does it for all suites of this user.

      Example:
        \(preferencesPath) sync add com.example.web etcd+https://etcd.example.com:2379/fleet --user web --password-file ~/.config/fleet.password
        \(preferencesPath) sync status
        \(preferencesPath) sync log com.example.web interval
      """,
    subcommands: MountedCommands.list(
      [
        SyncAddCommand.self, SyncStatusCommand.self, SyncNowCommand.self, SyncRunCommand.self,
        SyncLogCommand.self, SyncMachinesCommand.self, SyncRevertCommand.self,
        SyncAdoptCommand.self, SyncRemoveCommand.self,
      ], of: PreferenceCommandGroupName.name))

  static var isGroup: Bool { false }
  static var manual: CommonManual { PreferenceManual.common }

  /// Fails with 64, and reports that a subcommand is missing.
  func run() throws {
    let context = PreferenceCommandContext.current
    UserInterface(hostName: context.hostName)
      .reportMissingCommand([context.commandPath, "sync"])
    throw ExitCode(ExitCodes.usage)
  }
}

/// A command that works with shared suites.
protocol SyncSubcommand: PreferenceCommandPart {
  var options: SyncCommonOptions { get }

  /// Does the work.
  func perform(in session: SharingSession) throws
}

extension SyncSubcommand {
  static var isGroup: Bool { false }
  static var manual: CommonManual { PreferenceManual.common }

  /// Does the work, and reports a failure under the host's name.
  func run() throws {
    let context = PreferenceCommandContext.current
    try reportFailures(as: context.hostName, isQuiet: options.quiet) {
      StandardDescriptors.prepare()
      try perform(in: SharingSession(context, isQuiet: options.quiet))
    }
  }
}

/// The options that every command of `sync` takes.
struct SyncCommonOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Write only errors to standard error")
  var quiet = false
}

extension CompletionKind {
  /// The suites that are shared.
  static var sharedSuites: Self { .names { _ in SharedSuite.names() } }
}
