public import ArgumentParser
internal import Glibc
internal import KeychainCredentials
package import KeychainSecrets
public import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The entry of a program that has keychain commands.
public enum KeychainCommandLine {
  /// The version that `--version` prints.
  public static let version = Release.version

  /// Runs the program's command line, and ends the process with the exit code.
  ///
  /// Call it first: closed standard streams must be found before a file is opened in their place,
  /// and the process's memory must be protected before any secret is read.
  ///
  /// A command line that names a group of commands without a subcommand ends with 64; only `--help`
  /// and `help` show help and end with 0. The help of the keychain's commands shows their own
  /// options before shared ones, in at most a hundred columns of a terminal.
  ///
  /// A program that is called as `git-credential-NAME` or `docker-credential-NAME`, with its own
  /// name at the end, runs its command of that name. A client therefore needs only a link.
  ///
  /// - Parameters:
  ///   - root: The program's root command, with ``KeychainCommand`` among its subcommands.
  ///   - context: The names in messages, and the defaults; `nil` for the names of the root command.
  public static func main(
    _ root: any ParsableCommand.Type, context: KeychainCommandContext? = nil
  ) -> Never {
    let context = prepared(root, context)
    exit(KeychainCommandContext.$current.withValue(context) { invocation(root, context).run() })
  }

  /// Runs the command line of a program with asynchronous commands, and ends the process with the
  /// exit code.
  ///
  /// If `/proc` is not mounted, Swift's concurrency crashes an asynchronous program, possibly
  /// before this call. The parameters are those of ``main(_:context:)-(ParsableCommand.Type,_)``.
  public static func main(
    _ root: any AsyncParsableCommand.Type, context: KeychainCommandContext? = nil
  ) async -> Never {
    let context = prepared(root, context)
    exit(
      await KeychainCommandContext.$current.withValue(context) {
        await invocation(root, context).runAsync()
      })
  }

  /// Prepares the process for secrets, and returns the context of its commands.
  private static func prepared(
    _ root: any ParsableCommand.Type, _ context: KeychainCommandContext?
  ) -> KeychainCommandContext {
    StandardDescriptors.prepare()
    ProgramMemory.require()
    ProcessProtection.hideMemory()
    leaveCrashesToTheSystem()
    _ = MountedCommands.list([KeychainCommand.self], of: KeychainCommand.name)
    return context ?? KeychainCommandContext(root)
  }

  /// Returns a run of a command line with this process's console and environment.
  static func invocation(
    _ root: any ParsableCommand.Type, _ context: KeychainCommandContext,
    _ arguments: ProgramArguments = .process
  ) -> Invocation {
    let host = CommandHost(
      hostName: context.hostName, root: root, isWholeProgram: true,
      entry: "KeychainCommandLine.main", arguments: arguments,
      failureBehind: { ($0 as? any KeychainFailure)?.failure })
    return Invocation(
      root: root, arguments: Self.arguments(arguments.texts, root, context), host: host)
  }

  /// Returns the arguments without the program's name; for a helper's name, the helper's command
  /// comes first.
  static func arguments(
    _ texts: [String], _ root: any ParsableCommand.Type, _ context: KeychainCommandContext
  ) -> [String] {
    let given = Array(texts.dropFirst())
    guard let helper = HelperProgram(calledAs: texts.first, hostName: context.hostName),
      let words = KeychainCommandContext.words(from: root)
    else { return given }
    return words.dropFirst() + [helper.command] + given
  }

  /// Disables Swift's backtracer, which prints memory and waits for keys when the process crashes.
  private static func leaveCrashesToTheSystem() {
    for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
      signal(number, SIG_DFL)
    }
  }
}

extension KeychainCommandLine {
  /// Returns the secret that a reference names, for another part of the program.
  ///
  /// It asks nothing, because it may be needed at any time.
  package static func secret(
    at text: String, in root: any ParsableCommand.Type
  ) throws(KeychainError) -> SecretBytes {
    do {
      let session = try Session(
        CommonOptions.parse(["--no-prompt"]), stores: StoreChoiceOptions.parse([]),
        context: KeychainCommandContext(root), asking: Asking(), host: .current)
      return try session.resolver().resolve(CredentialReference(text))
    } catch {
      throw KeychainError.converted(error) as? KeychainError
        ?? KeychainError(.internalFailure, "the options of the keychain cannot be set")
    }
  }
}

extension KeychainCommandContext {
  /// Creates the context of a host from its root command, which has ``KeychainCommand`` among its
  /// subcommands or theirs.
  ///
  /// - Parameters:
  ///   - defaultService: The service of a credential if none is given.
  ///   - defaultVault: The path of the vault if none is given; `nil` for the default one.
  public init(
    _ root: any ParsableCommand.Type, defaultService: String = "default",
    defaultVault: String? = nil
  ) {
    self.init(
      hostName: root._commandName, commandPath: Self.words(from: root).map { Words.joined($0) },
      defaultService: defaultService, defaultVault: defaultVault)
  }

  /// Returns the words that run the commands, with the root's name first, or `nil` if the root does
  /// not have them.
  static func words(from root: any ParsableCommand.Type) -> [String]? {
    root == KeychainCommand.self
      ? [KeychainCommand.name]
      : root.words(leadingTo: { $0 == KeychainCommand.self }).map { $0 + [KeychainCommand.name] }
  }
}

extension KeychainCommandContext {
  /// Writes a notice to standard error, under the host's name and with the host's commands.
  ///
  /// A program that mounts the commands passes it as the notice closure of its own stores. Its
  /// users then read `'mytool keychain recovery create'` instead of the name of a function:
  ///
  /// ```swift
  /// let keychain = KeychainPreferences(
  ///   service: "com.example.deploy", interaction: .terminal,
  ///   notice: KeychainCommandContext.current.writeToStandardError)
  /// ```
  ///
  /// Lines are wrapped to the width of a terminal, and characters that control it are escaped. A
  /// failure to write is not reported. Nothing is written if `KEYCHAIN_QUIET` is not empty.
  @Sendable
  public func writeToStandardError(_ notice: Notice) {
    Self.$current.withValue(self) {
      let host = CommandHost.current
      host.interface(hostName, isQuiet: host.environment.asksForQuiet).report(notice)
    }
  }
}

/// The command `keychain`: credentials that stay encrypted.
///
/// A command-line program mounts it in three lines: the subcommand, and an entry with the host's
/// defaults.
///
/// ```swift
/// @main struct MyTool: ParsableCommand {
///   static let configuration = CommandConfiguration(
///     commandName: "mytool", version: "1.2.3",
///     subcommands: [Deploy.self, KeychainCommand.self])
///
///   static func main() {
///     KeychainCommandLine.main(
///       Self.self,
///       context: KeychainCommandContext(Self.self, defaultService: "com.example.mytool"))
///   }
/// }
/// ```
///
/// Help, hints and errors then use that program's name, also below another subcommand (`mytool auth
/// keychain`), and `KeychainPreferences(service: "com.example.mytool")` reads a secret that is
/// stored without `--service`.
///
/// ``KeychainCommandLine/main(_:context:)-(ParsableCommand.Type,_)`` adds what a whole program
/// needs: exit codes for errors of usage, checks of closed standard streams, and memory that other
/// processes cannot read. With the argument parser's `main()`, the commands take the context from
/// ``KeychainCommandContext/current``, which has the names of the running program unless it is set
/// around `main()`.
public struct KeychainCommand: ParsableCommand {
  static let name = "keychain"

  /// The definition of the command.
  public static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Store, read and manage encrypted credentials",
    discussion: """
      Credentials are kept in the desktop keyring, or without one in a vault, an encrypted file. \
      The first 'set' of a service chooses, and says so; --store chooses otherwise.

      Example:
        printf %s "$TOKEN" | \(keychainPath) set alice --service example.com
        \(keychainPath) get alice --service example.com
      """,
    groupedSubcommands: [
      CommandGroup(
        name: "Credentials",
        subcommands: MountedCommands.list(
          [
            SetCommand.self, GetCommand.self, ReadCommand.self, UpdateCommand.self,
            ShowCommand.self,
            ListCommand.self, RenameCommand.self, DeleteCommand.self, MigrateCommand.self,
          ], of: name)),
      CommandGroup(
        name: "Other programs",
        subcommands: MountedCommands.list(
          [
            RunCommand.self, InjectCommand.self, DockerCredentialCommand.self,
            GitCredentialCommand.self,
          ], of: name) + [HelpersCommand.self]),
      CommandGroup(
        name: "The vault",
        subcommands: [
          InitCommand.self, UnlockCommand.self, LockCommand.self, StatusCommand.self,
          DoctorCommand.self, SlotsCommand.self, RecoveryCommand.self, IdentityCommand.self,
          ChangePassphraseCommand.self, RekeyCommand.self, VerifyCommand.self, BackupCommand.self,
          CompactCommand.self,
          ExportCommand.self, ImportCommand.self,
          AcceptRestoredCommand.self,
        ]),
    ])

  /// Creates the command; the argument parser sets its properties.
  public init() {}

  /// Fails with ``/ArgumentParser/ExitCode`` 64, and reports that a subcommand is missing.
  public func run() throws { try requireCommand() }
}

extension KeychainCommand: KeychainCommandGroup, PackageCommand {
  static var groupWords: [String] { [] }
  package static var quickName: String? { name }
}
