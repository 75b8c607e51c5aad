internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine

/// Where a secret is written, and whether a newline follows it.
struct SecretDestinationOptions: QuickArguments {
  /// When a newline is added to the secret.
  enum Newline: String, ExpressibleByArgument, CaseIterable {
    case always, never, auto
  }

  @Option(help: "Whether a newline follows the secret (default: auto, on a terminal)")
  var newline: Newline?

  @Option(
    help: .init(
      "Write the secret to a new file that only you can read; - for standard output",
      valueName: "path"),
    completion: .file())
  var output: String?

  @Flag(help: "Let --output replace a file that exists")
  var overwrite = false

  mutating func read(_ line: inout QuickLine) throws {
    newline = try line.option("newline", as: Newline.init(argument:))
    output = try line.option("output")
    overwrite = try line.flag("overwrite")
  }

  func validate() throws {
    if output?.isEmpty == true { throw ValidationError(UsageText.emptyOutput) }
    if overwrite && output == nil { throw ValidationError(UsageText.overwriteOutput) }
  }

  /// Writes a secret.
  ///
  /// - Parameters:
  ///   - secret: The bytes.
  ///   - keptPaths: The paths of files that are not replaced.
  ///   - readers: Who may be able to use a file where the file system has no modes.
  ///   - deadline: How long to wait for a reader of a named pipe; `nil` for ten seconds.
  /// - Throws: ``KeychainError`` if it cannot be written.
  func write(
    _ secret: borrowing SecretBytes, keeping keptPaths: @autoclosure () -> [String],
    readers: @autoclosure () throws(KeychainError) -> SecretFileReaders, within deadline: Duration?
  ) throws(KeychainError) {
    if let output = SecretOutput.path(named: output) {
      return try SecretOutput(
        path: output, overwrites: overwrite, keptPaths: overwrite ? keptPaths() : [],
        timeout: deadline ?? .seconds(10), readers: readers()
      )
      .write(secret, addingNewline: newline == .always)
    }
    try CommandOutput.write(secret)
    if newline == .always || newline != .never && StandardOutput.isTerminal {
      try CommandOutput.write("\n")
    }
  }
}
