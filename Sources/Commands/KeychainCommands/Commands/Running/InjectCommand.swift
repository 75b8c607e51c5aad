internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainVault
internal import PrephirencesCommandLine

/// Fills a template with secrets.
struct InjectCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "inject",
    abstract: "Fill a template with secrets",
    discussion: """
      In the template, {{ keychain://SERVICE/ACCOUNT }} is replaced by the secret, once and as it is. \
      Two braces that begin no reference are an error; {{ "{{" }} stands for two braces. If one \
      reference fails, nothing is written.

      {{ keychain://SERVICE/ACCOUNT | json }} escapes the secret for JSON, within quotes or with quotes \
      of its own. Other forms are yaml, shell and url.

      The file has secrets on the disk then. A program that can read a variable or a file in memory \
      gets them from 'run' without that.

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

  @OptionGroup(title: "Which store") var stores: StoreOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreOptions? { stores }

  func validate() throws {
    if output?.isEmpty == true { throw ValidationError(UsageText.emptyOutput) }
    if overwrite && output == nil { throw ValidationError(UsageText.overwriteOutput) }
    if template == "-" && common.unlockDescriptor == STDIN_FILENO {
      throw ValidationError(UsageText.templateTwice)
    }
  }

  func perform(in session: Session) throws(KeychainError) {
    let output = SecretOutput.path(named: output)
    let file = try TemplateFile(template, within: common.deadline)
    try file.checkOutput(output)
    let allowance = ReferenceAllowance(
      services: allow, defaultService: session.context.defaultService)
    let contents = try file.contents(by: session.asking.deadline)
    let filled = try file.naming { () throws(KeychainError) in
      try SecretTemplate(contents).fill(with: session.resolver(), allowing: allowance)
    }
    guard let output else { return try CommandOutput.write(filled) }
    try SecretOutput(
      path: output, overwrites: overwrite, keptPaths: session.vaultPaths,
      timeout: common.deadline ?? .seconds(10), readers: session.vault.secretFileReaders()
    ).write(filled, addingNewline: false)
  }
}
