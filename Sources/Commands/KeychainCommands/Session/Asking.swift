internal import PrephirencesSystem

/// Whom a command may ask, and until when it waits for answers and input.
struct Asking {
  /// Whether questions may be asked on the terminal, if there is one.
  var onTerminal = true

  /// When the last question and the input end; `nil` for the usual time of each answer, and for input
  /// for as long as it comes.
  var deadline: Deadline?
}
