import Foundation

/// Counts the instructions of whole processes, which do not depend on the machine's load.
struct Instructions {
  /// `nil` without valgrind.
  init?(scratch: String) {
    guard (try? ChildProcess("valgrind", "--version").run()) != nil else { return nil }
    output = scratch + "/callgrind.out"
  }

  private let output: String

  /// Returns the number of instructions of a command; `nil` if it cannot run under valgrind.
  func count(_ process: ChildProcess) -> Double? {
    let tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=\(output)"]
    guard (try? process.under(tool).run()) != nil,
      let text = try? String(contentsOfFile: output, encoding: .utf8)
    else { return nil }
    let total = text.split(separator: "\n").last {
      $0.hasPrefix("totals:") || $0.hasPrefix("summary:")
    }
    return total?.split(separator: " ").last.flatMap { Double($0) }
  }
}
