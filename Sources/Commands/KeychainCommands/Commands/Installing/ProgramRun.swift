internal import Glibc
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// A short run of another program, which gets no input and none of our secrets.
struct ProgramRun {
  /// The exit code; `nil` if the program was stopped.
  let exitCode: Int32?

  /// What it wrote to standard output, up to a limit.
  let output: String

  /// The variables that the program gets: those by which it finds programs and files.
  private static let variables = [
    "PATH", "HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM", "GIT_DIR", "LD_LIBRARY_PATH",
  ]

  private static let limit = 1 << 16

  /// Runs a program to its end; `nil` if it cannot be started.
  ///
  /// - Parameters:
  ///   - path: The path of the program.
  ///   - arguments: The arguments after its name.
  ///   - time: When it is stopped.
  init?(_ path: String, _ arguments: [String], within time: Duration) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    // Or the program would keep both ends.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let process = Self.start(path, arguments, output: ends[1])
    close(ends[1])
    defer { close(ends[0]) }
    guard let process else { return nil }
    let deadline = Deadline(after: time)
    let (bytes, isComplete) = Self.read(ends[0], deadline)
    // What closes its output and goes on is stopped, too.
    if !isComplete || !Self.ends(process, deadline) { kill(process, SIGKILL) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    exitCode = status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    output = String(decoding: bytes, as: UTF8.self)
  }

  private static func start(_ path: String, _ arguments: [String], output: Int32) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    let environment = variables.compactMap { name in
      Environment.value(name).map { "\(name)=\($0)" }
    }
    return withWords([path] + arguments) { words in
      withWords(environment) { variables in
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

  /// Waits for the end of a process, which stays to be waited for.
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
