internal import Glibc

/// The width of a terminal.
package enum TerminalWidth {
  /// The number of columns if a terminal does not report it, and for help in a pipe.
  package static let usual = 80

  /// The maximum for running text, because longer lines are hard to read.
  package static let ofReading = 100

  /// Returns the number of columns of the terminal behind a descriptor.
  ///
  /// Returns the number, or `nil` if it is not a terminal.
  package static func columns(of descriptor: Int32) -> Int? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return usual }
    return Int(size.ws_col)
  }
}
