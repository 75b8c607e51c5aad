internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine

/// The recovery codes that open the vault.
struct RecoveryCommand: KeychainCommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "recovery",
    abstract: "Create a code on paper that opens the vault",
    subcommands: [RecoveryCreateCommand.self])
}

struct RecoveryCreateCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Create a code on paper that opens the vault when everything else is lost",
    usage: usage("recovery create [<options>]"),
    discussion: """
      The code is shown once, on the terminal only, and must be typed in once, which finds \
      mistakes in the copy. Nothing is changed before. Without a terminal, --code-file writes it \
      to a new file. It opens the vault with --recovery-code-fd or --recovery-code-file, and \
      'slots remove' removes it.

      Example:
        \(keychainPath) recovery create
      """)

  @Option(
    help: .init("Write the code to a new file, and ask nothing", valueName: "path"),
    completion: .file())
  var codeFile: String?

  @Option(
    parsing: .unconditional,
    help: .init("What people call it, such as 'safe'; encrypted", valueName: "name"))
  var name: String?

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    let shown = ShownRecoveryCode(file: codeFile)
    try shown.requireReader(in: session)
    let earlier = try session.vault.slots().filter { $0.kind == .recoveryCode }
    let slot = try shown.confirmed(in: session) { confirm in
      try session.vault.addRecoveryCodeSlot(name: name ?? "", confirm: confirm)
    }
    session.interface.say(SlotText.added(slot))
    if let codeFile { session.interface.hint(RecoveryCodeText.writtenCode(codeFile)) }
    session.interface.hint(RecoveryCodeText.writing(session.statusAfterChange()?.check))
    if !earlier.isEmpty { session.interface.hint(RecoveryCodeText.earlierCodes(earlier)) }
  }
}

enum RecoveryCodeText {
  static let aboveCode =
    "This is the recovery code of the vault. It opens everything in it.\n"
    + "Write it down on paper, and keep it away from this machine; it is not shown again.\n\n    "

  static let questionForCode = "type it in once, as you wrote it down: "
  static let wrongCode = "that is not the code above; compare it with the paper"

  static func writtenCode(_ path: String) -> String {
    "wrote the recovery code to \(path): copy it to paper, or to a place away from this machine, "
      + "and delete the file"
  }

  /// What a person adds to the page with the code.
  static func writing(_ check: VaultCheck?) -> String {
    let shown = "which '\(KeychainCommandContext.current.commandPath) status' shows"
    return "write the vault's check on the page with the recovery code: "
      + "\(check?.description ?? shown); a machine that has not seen the vault may ask for it"
  }

  static func earlierCodes(_ slots: [VaultSlot]) -> String {
    let numbers = slots.map { "\($0.number)" }.joined(separator: ", ")
    return "\(slots.count + 1) recovery codes open the vault now; "
      + "'\(KeychainCommandContext.current.commandPath) slots remove NUMBER' removes an older one "
      + "(\(slots.count == 1 ? "slot" : "slots") \(numbers))"
  }
}

/// A new recovery code, for a person to write down or for a new file.
struct ShownRecoveryCode {
  /// The path of the file, or `nil` to show the code on the terminal.
  let file: String?

  /// Returns whether the code was written down.
  typealias Confirmation = (borrowing RecoveryCode) throws(KeychainError) -> Bool

  /// Fails if nobody could read the code.
  func requireReader(in session: Session) throws {
    guard file != nil || session.prompt != nil else { throw KeychainError.nobodyToShowTheCode }
  }

  /// Calls `body` with a closure that shows the code; the file is removed again if `body` certainly
  /// changed nothing.
  func confirmed<Result>(
    in session: Session, _ body: (Confirmation) throws -> Result
  ) throws -> Result {
    var isWritten = false
    do {
      return try body { code throws(KeychainError) in
        guard let file else { return try Self.isWrittenDown(code, session) }
        try Self.write(code, to: file, readers: session.secretFileReaders)
        isWritten = true
        return true
      }
    } catch let error as KeychainError {
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
    var buffer = try SecretBuffer()
    try buffer.append(text)
    try buffer.append(UInt8(ascii: "\n"))
    let line = try buffer.finish()
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
    "there is no terminal to show the recovery code on, or asking is turned off; nothing was "
      + "changed",
    recovery: "write it into a new file with --code-file FILE")
}
