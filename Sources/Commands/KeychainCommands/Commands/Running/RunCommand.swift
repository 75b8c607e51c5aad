internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import KeychainStores
internal import PrephirencesCommandLine
internal import PrephirencesSystem

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

      Other processes of the same user can read a program's variables, but not its files, which \
      are in memory only. With --file NAME=REFERENCE the variable NAME has the path of the file, \
      and so has @NAME@ in the arguments of the command. --netrc makes a netrc file: NETRC, and \
      @netrc@. The command and those that it starts can read such a file, but not ssh and others \
      that close what they inherit: add --named-files for those.

      A line of --env-file is NAME=value; a value that is a reference is replaced. Quote \
      references: a shell reads & and ? in them.

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
      "Keep the files in a folder in $XDG_RUNTIME_DIR until the command ends, for programs that "
        + "close what they inherit"))
  var namedFiles = false

  @Flag(help: "Replace inherited variables that are references, too")
  var fromEnvironment = false

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init(
      "Allow references of --env-file and --from-environment only to this service or server; may "
        + "be repeated",
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

  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreChoiceOptions? { stores }

  var words: ArraySlice<String> { command.first == "--" ? command.dropFirst() : command[...] }

  func validate() throws {
    // The parser takes an unknown option for the command's first word.
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

extension RunCommand {
  /// Replaces this process with the command, or throws.
  func run() throws {
    try reportFailures { context, host in
      guard !dryRun else { return try withSession(context, host, perform) }
      try checkCommand()
      // Before a secret or the environment is read, because the process that removes the folder has
      // the memory of this one. And before the vault is opened: the first process of a container
      // removes the folder itself, and its child goes on.
      let files = ChildFiles(in: namedFiles ? try WatchedFolder() : nil)
      try withSession(context, host) { try start(files, host.arguments, in: $0) }
    }
  }

  private func start(
    _ files: ChildFiles, _ arguments: ProgramArguments, in session: Session
  ) throws {
    let request = try RunRequest(self, in: session)
    if let name = request.plan.unreadReferences.first {
      session.interface.hint(RunText.unreadReference(name))
    }
    let words = arguments.bytes(ofLast: Array(words))
    // Nobody is asked for a passphrase because of a misspelt name.
    if let failure = words.first.flatMap(ProgramReplacement.failureToFind) { throw failure }
    let child = try child(words, request, files, in: session)
    // From here on, the terminal belongs to the command.
    session.prompt?.close()
    try closeUnlockDescriptor()
    throw try child.become()
  }

  func perform(in session: Session) throws {
    let request = try RunRequest(self, in: session)
    if json { return try session.output.write(json: request) }
    let output = session.output
    try output.write(RunText.table(of: request).columns(within: output.stream.width))
  }

  private func child(
    _ words: [[UInt8]], _ request: RunRequest, _ files: ChildFiles, in session: Session
  ) throws -> Child {
    let resolver = session.resolver()
    var environment = try request.plan.resolve(with: resolver)
    var files = files
    for file in request.files {
      let made = try files.add(file.name, resolver.resolve(file.reference, for: file.name))
      try environment.set(file.name, to: made)
    }
    if !request.netrc.isEmpty {
      let text = try NetrcFile.contents(
        for: request.netrc, in: session.store, unlock: session.unlock)
      let made = try files.add(RunRequest.netrc.file, text, alsoNamed: RunRequest.netrc.variable)
      try environment.set(RunRequest.netrc.variable, to: made)
    }
    let words = files.naming(in: words)
    try environment.checkSize(arguments: words)
    for name in environment.replacedNames {
      session.interface.say("the inherited variable '\(name)' is replaced")
    }
    return Child(words: words, environment: environment, files: files)
  }

  /// Closes the passphrase's descriptor in the command, which could read a file again.
  private func closeUnlockDescriptor() throws {
    guard let descriptor = common.unlockDescriptor else { return }
    guard descriptor == STDIN_FILENO else {
      guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
        throw KeychainError.unlockDescriptor(errno)
      }
      return
    }
    let empty = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard empty >= 0 else { throw KeychainError.unlockDescriptor(errno) }
    defer { close(empty) }
    guard dup2(empty, STDIN_FILENO) == STDIN_FILENO else {
      throw KeychainError.unlockDescriptor(errno)
    }
  }

  private func checkCommand() throws {
    guard let name = words.first, !name.isEmpty else { throw KeychainError.noCommand }
    if command.first != "--", name.utf8.first == UInt8(ascii: "-") {
      throw KeychainError.dashCommand(name)
    }
  }
}

/// A program with its arguments, environment and files.
private struct Child {
  let words: [[UInt8]]
  let environment: ChildEnvironment
  let files: ChildFiles

  /// Becomes the program, or returns why it could not be started.
  func become() throws -> CommandLineError {
    try files.letChildInherit()
    return try environment.withPointers { variables in
      ProgramReplacement.start(words, environment: variables)
    }
  }
}

/// The request of `run`, read and checked before any store is opened.
struct RunRequest {
  /// The name of the file of `--netrc`, and the variable with its path.
  static let netrc = (file: "netrc", variable: "NETRC")

  let plan: EnvironmentPlan
  let files: [ReferenceAssignment]
  let netrc: [NetrcSelection]

  init(_ command: RunCommand, in session: Session) throws {
    let allowance = ReferenceAllowance(
      services: command.allow, defaultService: session.context.defaultService)
    var plan = EnvironmentPlan(
      inheriting: command.clean ? .usual : .all, from: session.environment)
    for text in command.env {
      let assignment = try ReferenceAssignment(text, option: "--env")
      try plan.set(assignment.name, to: assignment.reference)
    }
    let environmentFiles = try command.envFile.map {
      try EnvironmentFile(path: $0, timeout: command.common.deadline)
    }
    // The later of two files wins; a plan keeps what was added first.
    for file in environmentFiles.reversed() { try plan.add(file, allowing: allowance) }
    if command.fromEnvironment { try plan.addInherited(allowing: allowance) }
    self.plan = plan
    files = try command.file.map { try ReferenceAssignment($0, option: "--file") }
    netrc = try command.netrc.map { try NetrcSelection($0) }
    try checkNames()
  }

  var pathVariables: [String] {
    files.map(\.name) + (netrc.isEmpty ? [] : [Self.netrc.variable])
  }

  /// The variables other than paths of files; a path wins over a line of an environment file.
  var variables: [EnvironmentPlan.Variable] {
    plan.variables.filter { variable in
      !pathVariables.contains { $0.hasSameBytes(as: variable.name) }
    }
  }

  /// Checks that no file is named twice, or like a variable of the command line.
  private func checkNames() throws {
    let fromOptions = plan.variables.filter { $0.source == .option }.map(\.name)
    for file in files where !file.name.isVariableName {
      throw KeychainError.invalidFileName(file.name)
    }
    let names = fromOptions + pathVariables + (netrc.isEmpty ? [] : [Self.netrc.file])
    for (index, name) in names.enumerated() {
      let isRepeated = names[..<index].contains { $0.hasSameBytes(as: name) }
      guard !isRepeated else { throw KeychainError.fileTwice(name) }
    }
  }
}
