/// A process of this machine, as the kernel shows it.
package struct RunningProcess {
  package let number: Int32

  package init(_ number: Int32) { self.number = number }

  /// Whether it is stopped by a signal, as by Ctrl-Z, and does nothing until it is continued.
  package var isStopped: Bool {
    // See proc_pid_stat(5): the state follows the name, which is in parentheses and can have some.
    let text = SystemText.contents(of: "/proc/\(number)/stat") ?? ""
    guard let end = text.lastIndex(of: ")") else { return false }
    return text[end...].dropFirst(2).first == "T"
  }
}
