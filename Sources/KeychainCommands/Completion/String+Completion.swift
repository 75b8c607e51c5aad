internal import ArgumentParser

extension String {
  /// The name in the form in which the requesting shell takes it for itself.
  ///
  /// The argument parser hands it on as it is, and the shells read it: bash expands each line as a word of
  /// a command, so that `$(…)` in a name would run; zsh takes what follows a colon for a description.
  var forCompletion: String { forCompletion(in: CompletionShell.requesting) }

  func forCompletion(in shell: CompletionShell?) -> String {
    switch shell {
    case .some(.bash): "'" + replacing("'", with: "'\\''") + "'"
    case .some(.zsh): replacing("\\", with: "\\\\").replacing(":", with: "\\:")
    default: self
    }
  }
}
