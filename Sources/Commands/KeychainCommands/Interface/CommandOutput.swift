internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Standard output, whose failures become those of the keychain.
struct CommandOutput {
  let stream: StandardStream

  /// How long to wait for a program that reads the output; `nil` for no limit.
  let deadline: Deadline?

  init(_ stream: StandardStream, by deadline: Deadline? = nil) {
    (self.stream, self.deadline) = (stream, deadline)
  }

  /// Writes text; fails without standard output.
  func write(_ text: String) throws {
    guard let deadline else { return try stream.write(text) }
    try stream.checkOpen()
    try write(Array(text.utf8).span.bytes, by: deadline)
  }

  /// Writes a secret without creating a string of it.
  func write(_ secret: borrowing SecretBytes) throws {
    try stream.checkOpen()
    if let deadline {
      return try secret.withBytes { bytes in try write(bytes, by: deadline) }
    }
    do throws(KeychainError) {
      try secret.write(toFileDescriptor: stream.descriptor)
    } catch {
      throw CommandLineError.outputFailed(errno: error.systemError ?? EIO)
    }
  }

  func write(json value: some JSONConvertible) throws { try write(Self.json(value)) }

  func write(facts: [(String, String)]) throws {
    try write(FactLines.text(facts, within: stream.width))
  }

  /// Writes a table: columns on a terminal, otherwise lines.
  func write(_ table: TextTable) throws {
    try write(stream.isTerminal ? table.columns(within: stream.width) : table.lines)
  }

  /// Writes bytes in pieces that don't block once a pipe has space.
  private func write(_ bytes: RawSpan, by deadline: Deadline) throws {
    var offset = 0
    while offset < bytes.byteCount {
      guard deadline.awaitOutput(stream.descriptor) else {
        throw KeychainError.nobodyReadsOutput
      }
      let rest = bytes.extracting(offset..<min(offset + Int(PIPE_BUF), bytes.byteCount))
      let count = rest.withUnsafeBytes {
        Glibc.write(stream.descriptor, $0.baseAddress, $0.count)
      }
      if count > 0 { offset += count }
      guard count >= 0 || errno == EINTR || errno == EAGAIN else {
        throw CommandLineError.outputFailed(errno: errno)
      }
    }
  }

  /// Returns a value as JSON, with a newline at the end.
  ///
  /// Characters that control a terminal or are invisible are always escaped, because a file or a
  /// pipe may be shown on a terminal later.
  static func json(_ value: some JSONConvertible) -> String {
    value.json.linesOfFoundation.visibleInJSON + "\n"
  }
}

protocol JSONConvertible {
  var json: JSONValue { get }
}

/// The members of a JSON object; members without a value are left out.
typealias JSONMembers = [(name: String, value: (any JSONConvertible)?)]

extension JSONValue: JSONConvertible {
  var json: JSONValue { self }

  static func members(_ members: JSONMembers) -> JSONValue {
    .object(
      members.compactMap { name, value in
        value.map { JSONValue.Member(name: name, value: $0.json) }
      })
  }
}

extension JSONConvertible where Self: BinaryInteger {
  var json: JSONValue { .number(self) }
}

extension Int: JSONConvertible {}
extension Int32: JSONConvertible {}
extension Int64: JSONConvertible {}
extension UInt16: JSONConvertible {}
extension UInt32: JSONConvertible {}
extension UInt64: JSONConvertible {}

extension Bool: JSONConvertible {
  var json: JSONValue { .bool(self) }
}

extension String: JSONConvertible {
  var json: JSONValue { .string(self) }
}

extension Date: JSONConvertible {
  var json: JSONValue { .string(DateText.text(self)) }
}

extension Array: JSONConvertible where Element: JSONConvertible {
  var json: JSONValue { .array(map(\.json)) }
}

extension [String: Int]: JSONConvertible {
  var json: JSONValue { .members(map { ($0.key, $0.value) }) }
}

extension KeychainError {
  static let vaultOrKeyring = KeychainError(
    .invalidArgument, UsageText.vaultOrKeyring, recovery: "leave one of them out")

  static let needsBuiltInStores = KeychainError(
    .invalidArgument, "this command needs the vault, and the program keeps credentials elsewhere")

  static let emptySecret = KeychainError(
    .invalidArgument, "the secret is empty; nothing was changed",
    recovery: "add --allow-empty if that is meant")

  static let noServerToChange = KeychainError(
    .invalidArgument, "a generic password has no protocol, port or path to change",
    recovery: "add --to-server to make it an internet password")

  static func nobodyToAsk(for subject: Questions.Subject) -> Self {
    switch subject {
    case .secret:
      Self(
        .invalidArgument, "there is no terminal to ask for the secret, or asking is turned off",
        recovery: "give the secret on standard input")
    case .newPassphrase, .optionalPassphrase:
      Self(
        .invalidArgument, "there is no terminal to ask for a passphrase, or asking is turned off",
        recovery: "use --new-passphrase-fd or --new-passphrase-file")
    case .newExportPassphrase, .exportPassphrase:
      Self(
        .invalidArgument,
        "there is no terminal to ask for the passphrase of the export, or asking is turned off",
        recovery: "use --export-passphrase-fd or --export-passphrase-file")
    }
  }

  static let needsConfirmation = KeychainError(
    .invalidArgument, "this needs a yes, and there is no terminal to ask, or asking is turned off",
    recovery: "add --yes if you are sure")

  static let notConfirmed = KeychainError(.cancelled, "cancelled; nothing was changed")

  static func ambiguous(_ identities: [CredentialIdentity]) -> Self {
    let names = identities.map(\.description).joined(separator: "; ")
    return Self(
      .ambiguous, "\(identities.count) credentials match: \(names)",
      recovery: "name more of what you mean, such as the account, --service, --protocol or --port")
  }

  static func nothingMatches(_ attributes: CredentialAttributes) -> Self {
    let names = attributes.map { "'\($0.name)'" }.joined(separator: ", ")
    return Self(.notFound, "there is no credential with these values of \(names)")
  }

  static let noIdentity = KeychainError(.internalFailure, "no identity was named")

  static let noKeyFile = KeychainError(.internalFailure, "no key file was named")
}

extension KeychainError {
  /// Converts a failure of lower levels into one of the keychain.
  ///
  /// Other errors stay, as do failures to start a command, whose exit codes the keychain does not
  /// have.
  static func converted(_ error: any Error) -> any Error {
    switch error {
    case let error as CommandLineError
    where [ExitCodes.notStarted, ExitCodes.commandNotFound].contains(error.exitCode):
      error
    case let error as CommandLineError: KeychainError(error)
    case let error as FileError: KeychainError(error)
    default: error
    }
  }

  init(_ failure: CommandLineError) {
    let code: Code =
      switch failure.exitCode {
      case ExitCodes.usage: .invalidArgument
      case ExitCodes.inputOutput: .inputOutput
      case ExitCodes.refused: .refused
      case ExitCodes.cancelled: .cancelled
      default: .internalFailure
      }
    self.init(
      code, failure.message, recovery: failure.hint.map { .advice($0) },
      underlying: failure.systemError.map { .system(errno: $0) })
  }

  static func unreadable(_ source: String) -> Self { Self(CommandLineError.unreadable(source)) }

  static func cannotRead(_ source: String, errno: Int32) -> Self {
    Self(CommandLineError.cannotRead(source, errno: errno))
  }

  static func cannotOpen(_ path: String, errno: Int32) -> Self {
    Self(CommandLineError.cannotOpen(path, errno: errno))
  }

  static let nobodyReadsOutput = KeychainError(
    .timedOut, "nobody reads the standard output",
    recovery: "look whether its reader hangs, or wait longer with --deadline")

  static func cannotWrite(_ path: String, errno: Int32) -> Self {
    Self(CommandLineError.cannotWrite(path, errno: errno))
  }
}

extension KeychainError: CommandFailure {
  package var exitCode: Int32 { ExitCodes.code(for: code) }

  package var hint: String? { recovery?.commandText }
}

extension ExitCodes {
  /// Returns the exit code of a failure; an unknown code counts as another failure.
  static func code(for failure: KeychainError.Code) -> Int32 {
    table[failure] ?? otherFailure
  }

  private static let table: [KeychainError.Code: Int32] = [
    .notFound: notFound,
    .invalidArgument: usage,
    .damaged: badData, .foreign: badData, .rolledBack: badData, .undecodable: badData,
    .noStore: noStore,
    .internalFailure: internalFailure,
    .inputOutput: inputOutput,
    .timedOut: tryAgain, .busy: tryAgain, .versionConflict: tryAgain, .alreadyExists: tryAgain,
    .ambiguous: ambiguous,
    .locked: locked,
    .incorrectSecret: incorrectSecret,
    .refused: refused, .unsupportedFormat: refused, .otherDevice: refused,
    .insecurePermissions: refused, .tooLarge: refused,
    .expired: expired,
    .cancelled: cancelled,
    .insufficientMemory: insufficientMemory,
    .outcomeUnknown: outcomeUnknown,
  ]
}
