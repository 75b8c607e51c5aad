internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import KeychainStores
internal import PrephirencesCommandLine

extension RunCommand {
  /// Becomes the command, or reports why not.
  func run() throws {
    let context = KeychainCommandContext.current
    try reportFailures(as: context.hostName, isQuiet: common.isQuiet) {
      let session = try Session(common, stores: storeOptions, context: context, asking: asking)
      defer { session.prompt?.close() }
      guard !dryRun else { return try perform(in: session) }
      try checkCommand()
      guard !namedFiles || getpid() != 1 else { throw KeychainError.namedFilesOfFirstProcess }
      // Before a secret or the environment is read: what removes the folder has this process's memory.
      let files = ChildFiles(in: namedFiles ? try WatchedFolder() : nil)
      let request = try RunRequest(self, defaultService: session.context.defaultService)
      if let name = request.plan.unreadReferences.first {
        session.interface.hint(RunText.unreadReference(name))
      }
      let words = ProgramArguments.bytes(ofLast: Array(words))
      // Nobody is asked for a passphrase because of a misspelt name.
      if let failure = words.first.flatMap(ProgramReplacement.failureToFind) { throw failure }
      let child = try child(words, request, files, in: session)
      // The terminal is the command's from here on.
      session.prompt?.close()
      try closeUnlockDescriptor()
      throw try child.become()
    }
  }

  /// Prints what would be set.
  func perform(in session: Session) throws(KeychainError) {
    let request = try RunRequest(self, defaultService: session.context.defaultService)
    if json { return try CommandOutput.write(try CommandOutput.json(RunJSON(request))) }
    try CommandOutput.write(RunText.table(of: request).columns)
  }

  /// Reads everything that the command gets.
  private func child(
    _ words: [[UInt8]], _ request: RunRequest, _ files: ChildFiles, in session: Session
  ) throws(KeychainError) -> Child {
    let resolver = session.resolver()
    var environment = try request.plan.resolve(with: resolver)
    var files = files
    for file in request.files {
      let made = try files.add(file.name, resolver.resolve(file.reference, for: file.name))
      try environment.set(file.name, to: made)
    }
    if !request.netrc.isEmpty {
      let text = try NetrcFile.contents(for: request.netrc, in: session.store) {
        query throws(KeychainError) in try session.stores.makeReadable(query)
      }
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

  /// Keeps the descriptor with the passphrase from the command: a file can be read again.
  private func closeUnlockDescriptor() throws(KeychainError) {
    guard let descriptor = common.unlockDescriptor else { return }
    guard descriptor == STDIN_FILENO else {
      guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw .unlockDescriptor(errno) }
      return
    }
    let empty = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard empty >= 0 else { throw .unlockDescriptor(errno) }
    defer { close(empty) }
    guard dup2(empty, STDIN_FILENO) == STDIN_FILENO else { throw .unlockDescriptor(errno) }
  }

  private func checkCommand() throws(KeychainError) {
    guard let name = words.first, !name.isEmpty else { throw .noCommand }
    if command.first != "--", name.utf8.first == UInt8(ascii: "-") { throw .dashCommand(name) }
  }
}

/// A program with everything that it gets.
private struct Child {
  let words: [[UInt8]]
  let environment: ChildEnvironment
  let files: ChildFiles

  /// Becomes the program.
  ///
  /// - Returns: Why it could not be started.
  func become() throws -> CommandLineError {
    try files.letChildInherit()
    return try environment.withPointers { variables in
      ProgramReplacement.start(words, environment: variables)
    }
  }
}
