internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine

/// A new recovery code, which a person writes down, or which goes to a new file.
struct ShownRecoveryCode {
  /// The path of the file; `nil` to show the code on the terminal.
  let file: String?

  /// What returns whether the code was written down.
  typealias Confirmation = (borrowing RecoveryCode) throws(KeychainError) -> Bool

  /// Fails if nobody could read the code.
  func requireReader(in session: Session) throws(KeychainError) {
    guard file != nil || session.prompt != nil else { throw .nobodyToShowTheCode }
  }

  /// Calls `body` with what shows the code; if it surely changed nothing, the file is removed again.
  func confirmed<Result>(
    in session: Session, _ body: (Confirmation) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    var isWritten = false
    do throws(KeychainError) {
      return try body { code throws(KeychainError) in
        guard let file else { return try Self.isWrittenDown(code, session) }
        try Self.write(code, to: file, readers: session.vault.secretFileReaders())
        isWritten = true
        return true
      }
    } catch {
      guard isWritten, let file else { throw error }
      throw error.removing(file)
    }
  }

  private static func isWrittenDown(
    _ code: borrowing RecoveryCode, _ session: Session
  ) throws(KeychainError) -> Bool {
    guard let prompt = session.prompt else { throw .nobodyToShowTheCode }
    return try prompt.confirmRetyped(
      code.text(), below: RecoveryCodeText.aboveCode, question: RecoveryCodeText.questionForCode,
      wrong: RecoveryCodeText.wrongCode
    ) { answer in
      guard let typed = try? RecoveryCode(text: answer) else { return false }
      return typed.isEqual(to: code)
    }
  }

  private static func write(
    _ code: borrowing RecoveryCode, to path: String, readers: SecretFileReaders
  ) throws(KeychainError) {
    let text = try code.text()
    let line = try translating { () throws(SecretsError) in
      var buffer = try SecretBuffer()
      try text.withBytes { bytes throws(SecretsError) in try buffer.append(bytes) }
      try buffer.append(UInt8(ascii: "\n"))
      return try buffer.finish()
    }
    do throws(KeychainError) {
      try line.write(toNewFile: path, readers: readers)
    } catch {
      throw error.code == .alreadyExists ? .fileExists(path) : error
    }
  }
}

extension KeychainError {
  static let nobodyToShowTheCode = KeychainError(
    .refused,
    "there is no terminal to show the recovery code on, or asking is turned off; nothing was changed",
    recovery: "write it into a new file with --code-file FILE")
}
