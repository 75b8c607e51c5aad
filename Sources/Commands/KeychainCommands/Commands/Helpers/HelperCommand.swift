internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// A command that another program calls for a credential: git, docker.
///
/// The client waits for it, often without a person. So the whole call, with its questions, has a
/// deadline, and ``reply(to:on:)`` also answers a failure as the client expects.
protocol HelperCommand: KeychainSubcommand {
  /// Returns whether the client lets its helpers ask on the terminal.
  func mayAskOnTerminal(in environment: EnvironmentVariables) -> Bool
}

extension HelperCommand {
  func mayAskOnTerminal(in environment: EnvironmentVariables) -> Bool { true }

  func asking(in environment: EnvironmentVariables) -> Asking {
    Asking(
      onTerminal: mayAskOnTerminal(in: environment),
      deadline: Deadline(after: common.deadline ?? usualTime))
  }

  /// As long as a person has for an answer elsewhere.
  private var usualTime: Duration { .seconds(120) }

  /// Whether the unlocking passphrase would be read from the request's stream.
  var readsRequestTwice: Bool { common.unlockDescriptor == STDIN_FILENO }
}

/// The options of all helpers: which credentials they give to their clients.
struct HelperOptions: QuickArguments {
  @Option(
    name: [.customShort("g"), .long], parsing: .unconditional,
    help: .init("The access group (default: the unnamed one)", valueName: "name"),
    completion: .accessGroups)
  var accessGroup: String?

  mutating func read(_ line: inout QuickLine) throws {
    accessGroup = try line.option("access-group", "g")
  }
}

/// The request of a client, on standard input.
struct HelperInput {
  /// A longer request is a mistake, such as a wrong file.
  static let limit = 1 << 20

  let stream: StandardStream

  /// When the request must be complete; `nil` for no limit.
  let deadline: Deadline?

  /// Tells a person at a terminal that a request is expected.
  let say: (String) -> Void

  init(_ session: Session, _ content: String) {
    stream = session.console.input
    deadline = session.asking.deadline
    say = { end in
      session.interface.say("waiting for \(content), which a client sends; \(end) ends it")
    }
  }

  /// Where a request ends.
  enum End {
    /// At the end of the stream.
    case stream

    /// Also after an empty line, which a person types.
    case emptyLine
  }

  /// Reads the request into guarded memory.
  func read(to end: End = .stream) throws -> SecretBytes {
    guard !stream.wasClosed else {
      throw CommandLineError.inputClosed("pipe the request into it, as the client does")
    }
    if stream.isTerminal { say(end == .emptyLine ? "an empty line" : "^D") }
    var buffer = try SecretBuffer(capacity: 256)
    while try !isComplete(&buffer, end) {}
    return try buffer.finish()
  }

  /// Waits for more, and returns whether the request has ended.
  private func isComplete(_ buffer: inout SecretBuffer, _ end: End) throws -> Bool {
    try waitForInput()
    guard let count = try more(&buffer) else { return false }
    guard buffer.count <= Self.limit else { throw KeychainError.requestTooLong }
    return count == 0 || end == .emptyLine && Self.endsWithEmptyLine(buffer)
  }

  private func more(_ buffer: inout SecretBuffer) throws -> Int? {
    do throws(KeychainError) {
      return try buffer.append(readingOnce: stream.descriptor, limit: Self.chunk)
    } catch {
      guard let errno = error.systemError else { throw error }
      throw KeychainError.cannotRead("standard input", errno: errno)
    }
  }

  /// A usual request is shorter, and fits into a slot of guarded memory.
  private static let chunk = 255

  private func waitForInput() throws {
    guard deadline?.awaitInput(stream.descriptor) ?? true else {
      throw KeychainError.requestIncomplete
    }
  }

  private static func endsWithEmptyLine(_ buffer: borrowing SecretBuffer) -> Bool {
    buffer.withBytes { bytes in
      let newline = UInt8(ascii: "\n")
      let count = bytes.byteCount
      return count > 0 && bytes.byte(at: count - 1) == newline
        && (count == 1 || bytes.byte(at: count - 2) == newline)
    }
  }
}

extension KeychainError {
  static let requestTooLong = KeychainError(
    .tooLarge, "the request on standard input is longer than 1 MiB")

  static let requestIncomplete = KeychainError(
    .timedOut, "the request on standard input did not end in time",
    recovery: "end it as the client does, or wait longer with --deadline")
}
