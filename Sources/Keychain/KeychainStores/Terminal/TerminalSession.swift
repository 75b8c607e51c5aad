internal import CPrephirencesSystem
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// The terminal while a program asks.
///
/// It is restored when the object is destroyed.
///
/// A signal that ends or stops the process restores it, too.
final class TerminalSession: Sendable {
  /// Why there is no answer.
  enum End: Error {
    case cancelled
    case timedOut
    case signal(Int32)
    case tooLong

    /// A key was typed that no answer has.
    case notTaken(UInt8)

    /// Several lines were pasted where one answer belongs.
    case severalLines
    case unusable(errno: Int32)
    case secrets(SecretsError)
  }

  private let terminal: Terminal

  /// Opens the terminal.
  init() throws(End) {
    let terminal = try Terminal()
    let failure = cterminal_begin(terminal.descriptor, terminal.input)
    guard failure == 0 else { throw .unusable(errno: failure) }
    self.terminal = terminal
  }

  deinit { cterminal_end() }

  /// For reading; see ``Terminal/input``.
  var input: Int32 { terminal.input }

  /// The current width of the terminal.
  var columns: Int { TerminalWidth.columns(of: terminal.descriptor) ?? TerminalWidth.usual }

  /// Shows text to the person.
  func write(_ text: String) {
    writeAll(text, to: terminal.descriptor)
  }

  /// Shows a secret without making a string of it.
  func write(_ secret: borrowing SecretBytes) {
    try? secret.write(toFileDescriptor: terminal.descriptor)
  }

  /// Hides what is typed.
  func hideInput(dropsTyped: Bool = false) throws(End) {
    let failure = cterminal_show_input(false, dropsTyped)
    guard failure == 0 else { throw .unusable(errno: failure) }
  }

  /// Shows what is typed, and lets the terminal edit the line.
  func showInput() throws(End) {
    let failure = cterminal_show_input(true, false)
    guard failure == 0 else { throw .unusable(errno: failure) }
  }

  /// Switches to an empty screen, whose contents cannot be scrolled back to.
  func openScreen() {
    if hasScreens { cterminal_open_screen() }
  }

  /// Clears that screen, and switches back to the usual one.
  func closeScreen() {
    if hasScreens { cterminal_close_screen() }
  }

  private var hasScreens: Bool {
    guard let name = unsafe getenv("TERM").flatMap({ unsafe String(validatingCString: $0) }) else {
      return false
    }
    return !name.isEmpty && name != "dumb"
  }
}
