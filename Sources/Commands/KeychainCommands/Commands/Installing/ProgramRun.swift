internal import Glibc
internal import KeychainCredentials
internal import PrephirencesCommandLine
internal import PrephirencesSystem
internal import SystemPackage

/// A short run of another program, without input and without our secrets.
struct ProgramRun {
  /// The exit code; `nil` if the program was stopped.
  let exitCode: Int32?

  let output: String

  /// The variables that the program gets, which it needs to find programs and files.
  private static let variables = [
    "PATH", "HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM", "GIT_DIR", "LD_LIBRARY_PATH",
  ]

  private static let limit = 1 << 16

  /// Runs a program to its end, or returns `nil` if it cannot be started.
  init?(
    _ path: String, _ arguments: [String], in environment: EnvironmentVariables,
    within time: Duration
  ) {
    guard let ends = try? DescriptorIO.pipe() else { return nil }
    let process = Self.start(
      path, arguments, environment, output: ends.write.rawValue)
    try? ends.write.close()
    defer { try? ends.read.close() }
    guard let process else { return nil }
    let deadline = Deadline(after: time)
    let (bytes, isComplete) = Self.read(ends.read.rawValue, deadline)
    // Also stop a program that closes its output and continues.
    if !isComplete || !Self.ends(process, deadline) { kill(process, SIGKILL) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    exitCode = status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    output = String(decoding: bytes, as: UTF8.self)
  }

  private static func start(
    _ path: String, _ arguments: [String], _ environment: EnvironmentVariables, output: Int32
  ) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    let given = variables.compactMap { name in environment.text(name).map { "\(name)=\($0)" } }
    return withWords([path] + arguments) { words in
      withWords(given) { variables in
        var process: pid_t = 0
        return posix_spawn(&process, path, &actions, nil, words, variables) == 0 ? process : nil
      }
    }
  }

  private static func withWords<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let words = texts.map { strdup($0) }
    defer { for word in words { free(word) } }
    return body(words + [nil])
  }

  /// Reads to the end; the second value is whether it was reached.
  private static func read(_ descriptor: Int32, _ deadline: Deadline) -> ([UInt8], Bool) {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count < limit, !deadline.hasPassed {
      var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&source, 1, deadline.milliseconds) > 0 else { continue }
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count == 0 { return (bytes, true) }
      if count > 0 { bytes += chunk[..<count] }
    }
    return (bytes, false)
  }

  /// Waits for the end of a process without reaping it.
  private static func ends(_ process: pid_t, _ deadline: Deadline) -> Bool {
    while true {
      var info = siginfo_t()
      if waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0, info.si_signo != 0 {
        return true
      }
      guard !deadline.hasPassed else { return false }
      Deadline.pause()
    }
  }
}

/// The folders in which clients search for their helpers.
struct SearchPath {
  /// The absolute ones, in order; a relative one depends on where the client is started.
  let folders: [String]

  init(_ value: String?) {
    folders = (value ?? "").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
  }

  /// Whether a folder is among them, possibly under another path.
  func contains(_ folder: String) -> Bool {
    guard let identity = FileIdentity(folder) else { return false }
    return folders.contains { FileIdentity($0) == identity }
  }

  func program(_ name: String) -> String? {
    folders.lazy.map { PathText.joined($0, name) }.first { path in
      var status = stat()
      return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        && access(path, X_OK) == 0
    }
  }
}

/// The running program, as links lead to it.
struct InstalledHost {
  /// The name of the host, with which the names of its links end.
  let name: String

  /// The path of the program: in `PATH` if that is this program, because updates replace that file;
  /// otherwise the file itself.
  let path: String

  let identity: FileIdentity
  let environment: EnvironmentVariables
  let search: SearchPath

  /// Finds the program; the link leads to its file.
  init(
    _ context: KeychainCommandContext, _ environment: EnvironmentVariables,
    executable link: String = CommandHost.ownExecutable
  ) throws {
    // After an update, the kernel reports the file as deleted; `FileIdentity` still reaches it.
    guard let identity = FileIdentity(link), let file = PathText.target(ofLink: link) else {
      throw KeychainError(
        .internalFailure, "the path of this program is not known", recovery: "mount /proc")
    }
    name = context.hostName
    self.environment = environment
    search = SearchPath(environment.text("PATH"))
    self.identity = identity
    let found = search.program(name)
    path = found.flatMap { FileIdentity($0) == identity ? $0 : nil } ?? file
  }

  var folder: String { PathText.folder(of: path) }

  /// The default folder for links: the program's own if it is writable and in `PATH`, or else the
  /// user's, or for the superuser the machine's.
  var usualFolder: String? {
    if search.contains(folder), access(folder, W_OK) == 0 { return folder }
    if geteuid() == 0 { return "/usr/local/bin" }
    return environment.text("HOME").flatMap { $0.hasPrefix("/") ? $0 + "/.local/bin" : nil }
  }

  /// Returns the target of a link in a folder; next to the program it is a plain name, so that both
  /// can be moved together.
  func linkText(in folder: String) -> String {
    FileIdentity(folder) == FileIdentity(self.folder) ? PathText.name(of: path) : path
  }
}
