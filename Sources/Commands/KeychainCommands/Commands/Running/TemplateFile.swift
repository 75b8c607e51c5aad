internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The template of `inject`, open until it was compared with the output.
struct TemplateFile: ~Copyable {
  private let descriptor: Int32
  private let path: String?

  /// Opens a template; `-` is standard input.
  init(_ path: String, within timeout: Duration?) throws(KeychainError) {
    guard path != "-" else {
      guard !StandardDescriptors.wasClosed(STDIN_FILENO) else {
        throw .inputClosed("pipe the template into it, or name its file")
      }
      (descriptor, self.path) = (STDIN_FILENO, nil)
      return
    }
    let opened = try WaitingFile.open(path, within: timeout) { .cannotOpen(path, errno: $0) }
    (descriptor, self.path) = (opened, path)
  }

  deinit { if path != nil { close(descriptor) } }

  /// Checks that the output is another file than the template, by whatever name.
  borrowing func checkOutput(_ output: String?) throws(KeychainError) {
    var (read, written) = (stat(), stat())
    let isKnown =
      fstat(descriptor, &read) == 0
      && (output.map { stat($0, &written) } ?? fstat(STDOUT_FILENO, &written)) == 0
    guard isKnown, read.st_mode & S_IFMT == S_IFREG else { return }
    guard read.st_dev != written.st_dev || read.st_ino != written.st_ino else {
      throw .outputIsTemplate
    }
  }

  /// Reads the template.
  borrowing func contents(by deadline: Deadline?) throws(KeychainError) -> [UInt8] {
    let limit = Credential.maximumSecretCount
    guard
      let contents = try SecretBytes.reading(descriptor, named: name, limit: limit, by: deadline)
    else { throw .templateTooLong }
    return contents.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
  }

  /// Calls a closure whose failures are about the template.
  borrowing func naming<Result: ~Copyable>(
    _ body: () throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    do throws(KeychainError) {
      return try body()
    } catch {
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
