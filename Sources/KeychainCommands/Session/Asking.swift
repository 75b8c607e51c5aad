internal import PrephirencesFiles

/// Whom a command may ask, and until when.
struct Asking {
  /// Whether questions may be asked on the terminal, if there is one.
  var onTerminal = true

  /// When the last question ends; `nil` for the usual time of each answer.
  var deadline: Deadline?
}
