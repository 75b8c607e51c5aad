internal import ArgumentParser

extension String {
  /// The name in the form in which the requesting shell takes it for itself.
  ///
  /// The argument parser hands it on as it is, and the shells read it: bash expands each line as a word of
  /// a command, so that `$(…)` in a name would run; zsh takes what follows a colon for a description.
  var forCompletion: String { forCompletion(in: CompletionShell.requesting) }

  /// Whether a shell quotes all of the name when it puts it into the line.
  ///
  /// bash leaves what stands for variables and commands as it is, and zsh what stands for earlier lines: who
  /// presses Enter would run it.
  func isQuoted(by shell: CompletionShell?) -> Bool {
    switch shell {
    case .some(.bash): !contains { $0 == "$" || $0 == "`" }
    case .some(.zsh): !contains("!")
    default: true
    }
  }

  func forCompletion(in shell: CompletionShell?) -> String {
    switch shell {
    case .some(.bash): "'" + replacing("'", with: "'\\''") + "'"
    case .some(.zsh): replacing("\\", with: "\\\\").replacing(":", with: "\\:")
    default: self
    }
  }
}
