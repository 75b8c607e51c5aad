internal import PrephirencesSystem

/// Who may be asked, and until when answers and input are awaited.
struct Asking {
  /// Whether questions may be asked on the terminal, if there is one.
  var onTerminal = true

  /// When the last question and the input end; if it is `nil`, each answer has the usual time and
  /// input has no limit.
  var deadline: Deadline?
}
