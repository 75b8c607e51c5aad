internal import Glibc
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// A question on the terminal.
enum Confirmation {
  /// Asks for agreement; only `y` and `yes` agree.
  static func require(_ question: String) throws(CommandLineError) {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { throw .needsConfirmation }
    defer { close(terminal) }
    // In the background, reading would stop the process.
    guard tcgetpgrp(terminal) == getpgrp() else { throw .needsConfirmation }
    // Without the turn, it could read the answer to another question. If there is no lock, it asks
    // anyway.
    let turn = try? TerminalTurn(on: terminal)
    do throws(TerminalTurn.Failure) { try turn?.take() } catch { throw .otherQuestion(error) }
    defer { extendLifetime(turn) }
    tcflush(terminal, TCIFLUSH)
    let text = Array(question.utf8)
    guard write(terminal, text, text.count) == text.count else { throw .needsConfirmation }
    guard ["y", "yes"].contains(answer(from: terminal)) else { throw .notConfirmed }
  }

  private static func answer(from terminal: Int32) -> String {
    var answer: [UInt8] = []
    var byte: UInt8 = 0
    while answer.count < 100, read(terminal, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
      answer.append(byte)
    }
    return String(decoding: answer, as: UTF8.self).lowercased()
  }
}
