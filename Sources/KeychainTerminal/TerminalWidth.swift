internal import Glibc

/// How wide a terminal is.
package enum TerminalWidth {
  /// A terminal that doesn't tell, and the help of a pipe, have this many columns.
  package static let usual = 80

  /// Longer lines of running text are hard to read.
  package static let ofReading = 100

  /// The number of columns of the terminal that a descriptor leads to.
  ///
  /// - Parameter descriptor: An open descriptor.
  /// - Returns: The number, or `nil` if it leads elsewhere.
  package static func columns(of descriptor: Int32) -> Int? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return usual }
    return Int(size.ws_col)
  }
}
