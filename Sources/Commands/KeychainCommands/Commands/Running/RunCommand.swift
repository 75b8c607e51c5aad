internal import ArgumentParser
internal import KeychainCredentials
internal import PrephirencesCommandLine

/// Runs another program with secrets.
struct RunCommand: KeychainSubcommand {
  static let passesWordsOn = true

  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a command with secrets in its environment or in files",
    usage: usage("run [<options>] [--] [<command>] …"),
    discussion: """
      Everything is read first; if one reference fails, nothing is started. The command then takes \
      the place of this program: signals, exit code and terminal are its own.

      Other processes of the same user can read a program's variables, but not its files, which are \
      in memory only. With --file NAME=REFERENCE the variable NAME has the path of the file, and so \
      has @NAME@ in the arguments of the command. --netrc makes a netrc file: NETRC, and @netrc@. The \
      command and those that it starts can read such a file, but not ssh and others that close what \
      they inherit: add --named-files for those.

      A line of --env-file is NAME=value; a value that is a reference is replaced. Quote references: \
      a shell reads & and ? in them.

      Example:
        \(keychainPath) run -e PGPASSWORD='keychain://db/admin' -- psql -h db admin

        \(keychainPath) run --env-file .env --allow myapp -- ./server

        \(keychainPath) run --file CNF='keychain://db/client.cnf' -- \\
          mysql --defaults-extra-file=@CNF@

        \(keychainPath) run --netrc git.example.com -- \\
          swift package --netrc-file @netrc@ resolve

        \(keychainPath) run --named-files --file KEY='keychain://ssh/deploy' -- \\
          ssh -i @KEY@ deploy@example.com
      """)

  @Option(
    name: [.customLong("env"), .customShort("e")], parsing: .unconditionalSingleValue,
    help: .init("Set a variable to what a reference names; may be repeated", valueName: "name=ref"))
  var env: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init(
      "Set the variables of a file of lines NAME=value; may be repeated", valueName: "path"),
    completion: .file())
  var envFile: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Make a file of what a reference names; may be repeated", valueName: "name=ref"))
  var file: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init(
      "Make a netrc file with the password of a server, [ACCOUNT@]HOST[:PORT]; may be repeated",
      valueName: "host"))
  var netrc: [String] = []

  @Flag(
    help: .init(
      "Keep the files in a folder in $XDG_RUNTIME_DIR until the command ends, for programs that close "
        + "what they inherit"))
  var namedFiles = false

  @Flag(help: "Replace inherited variables that are references, too")
  var fromEnvironment = false

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init(
      "Allow references of --env-file and --from-environment only to this service or server; may be "
        + "repeated",
      valueName: "service"))
  var allow: [String] = []

  @Flag(help: "Pass on only the usual variables, such as PATH, HOME, TERM and LANG")
  var clean = false

  @Flag(help: "Print what would be set, without values, and start nothing")
  var dryRun = false

  @Flag(help: "Print what --dry-run finds as JSON")
  var json = false

  @Argument(
    parsing: .captureForPassthrough,
    help: "The command and its arguments, after --", completion: .default)
  var command: [String] = []

  @OptionGroup(title: "Which store") var stores: StoreOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreOptions? { stores }

  /// The words of the command, without the `--` before them.
  var words: ArraySlice<String> { command.first == "--" ? command.dropFirst() : command[...] }

  func validate() throws {
    // The parser takes an option that the command does not declare for the command's first word.
    if let first = command.first, ["--help", "-h"].contains(first) {
      throw CleanExit.helpRequest(Self.self)
    }
    if let descriptor = common.unlockDescriptor, [1, 2].contains(descriptor) {
      throw ValidationError(UsageText.descriptorOfCommand)
    }
    if json && !dryRun { throw ValidationError(UsageText.jsonOfDryRun) }
    if namedFiles && file.isEmpty && netrc.isEmpty {
      throw ValidationError(UsageText.namesOfFiles)
    }
    if !allow.isEmpty && envFile.isEmpty && !fromEnvironment {
      throw ValidationError(UsageText.allowanceOfFiles)
    }
  }
}
