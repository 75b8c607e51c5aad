internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Fills a template with secrets.
struct InjectCommand: StoreSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "inject",
    abstract: "Fill a template with secrets",
    discussion: """
      In the template, {{ keychain://SERVICE/ACCOUNT }} is replaced by the secret, once and as it \
      is. Two braces that begin no reference are an error; {{ "{{" }} stands for two braces. If \
      one reference fails, nothing is written.

      {{ keychain://SERVICE/ACCOUNT | json }} escapes the secret for JSON, within quotes or with \
      quotes of its own. Other forms are yaml, shell and url.

      The file has secrets on the disk then. A program that can read a variable or a file in \
      memory gets them from 'run' without that.

      Example:
        \(keychainPath) inject app.conf.in --output app.conf
        \(keychainPath) inject - < app.conf.in | ssh server 'cat > app.conf'
      """)

  @Argument(help: "The template; - for standard input", completion: .file())
  var template: String

  @Option(
    help: .init(
      "Write to a new file that only you can read; - for standard output", valueName: "path"),
    completion: .file())
  var output: String?

  @Flag(help: "Let --output replace a file that exists")
  var overwrite = false

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init(
      "Allow references only to this service or server; may be repeated", valueName: "service"))
  var allow: [String] = []

  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  func validate() throws {
    if output?.isEmpty == true { throw ValidationError(UsageText.emptyOutput) }
    if overwrite && output == nil { throw ValidationError(UsageText.overwriteOutput) }
    if template == "-" && common.unlockDescriptor == STDIN_FILENO {
      throw ValidationError(UsageText.templateTwice)
    }
  }

  func perform(in session: Session) throws {
    let output = SecretOutput.path(named: output)
    let file = try TemplateFile(template, session.console.input, within: common.deadline)
    try file.checkOutput(output, session.console.output)
    let allowance = ReferenceAllowance(
      services: allow, defaultService: session.context.defaultService)
    if template == "-" { session.interface.sayWaiting(for: "the template") }
    let contents = try file.contents(by: session.asking.deadline)
    let filled = try file.naming {
      try SecretTemplate(contents).fill(with: session.resolver(), allowing: allowance)
    }
    guard let output else { return try session.output.write(filled) }
    try SecretOutput(
      path: output, overwrites: overwrite, keptPaths: session.vaultPaths,
      timeout: common.deadline ?? .seconds(10), readers: session.secretFileReaders
    ).write(filled, addingNewline: false)
  }
}

/// The template of `inject`, kept open until it was compared with the output.
struct TemplateFile: ~Copyable {
  private let descriptor: Int32
  private let path: String?

  /// Opens a template; `-` is standard input.
  init(_ path: String, _ input: StandardStream, within timeout: Duration?) throws {
    guard path != "-" else {
      guard !input.wasClosed else {
        throw CommandLineError.inputClosed("pipe the template into it, or name its file")
      }
      (descriptor, self.path) = (input.descriptor, nil)
      return
    }
    let opened = try WaitingFile.open(path, within: timeout) { .cannotOpen(path, errno: $0) }
    (descriptor, self.path) = (opened, path)
  }

  deinit { if path != nil { close(descriptor) } }

  /// Checks that the output is not the template under any name.
  borrowing func checkOutput(_ output: String?, _ stream: StandardStream) throws {
    var (read, written) = (stat(), stat())
    let isKnown =
      fstat(descriptor, &read) == 0
      && (output.map { stat($0, &written) } ?? fstat(stream.descriptor, &written)) == 0
    guard isKnown, read.st_mode & S_IFMT == S_IFREG else { return }
    guard read.st_dev != written.st_dev || read.st_ino != written.st_ino else {
      throw KeychainError.outputIsTemplate
    }
  }

  borrowing func contents(by deadline: Deadline?) throws -> [UInt8] {
    let limit = Credential.maximumSecretCount
    guard
      let contents = try SecretBytes.reading(descriptor, named: name, limit: limit, by: deadline)
    else { throw KeychainError.templateTooLong }
    return contents.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
  }

  /// Calls a closure, and names the template in its failures.
  borrowing func naming<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as KeychainError {
      throw KeychainError(
        error.code, "\(name), \(error.message)", recovery: error.recovery,
        underlying: error.underlying)
    }
  }

  private var name: String { path.map { "'\($0)'" } ?? "standard input" }
}

extension KeychainError {
  fileprivate static let outputIsTemplate = KeychainError(
    .refused, "the output is the template itself, which would be lost",
    recovery: .nameNewFile)

  fileprivate static let templateTooLong = KeychainError(
    .tooLarge, "the template is longer than \(Credential.maximumSecretCount) bytes")
}
