internal import Foundation
internal import Glibc
internal import Prephirences
internal import PrephirencesDurable

/// Uses the durable preferences in its environment, and prints a line for each completed step.
///
/// The tests run it as separate processes. The arguments are a suite and a command, or a suite
/// alone: then the commands are the lines of the standard input, and `done` ends each answer.
@main
enum DurableTool {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let suite = arguments.first else { exit(64) }
    let session = Session(DurablePreferences(suiteName: suite))
    guard arguments.count == 1 else {
      exit(session.run(Array(arguments.dropFirst())) ? 0 : 1)
    }
    while let line = readLine() {
      _ = session.run(line.split(separator: " ").map(String.init))
      report("done")
    }
  }
}

/// Prints a line at once, so that it is there if the process is killed next.
func report(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

/// Returns the name of an error's code, and its message.
func described(_ error: any Error) -> String {
  guard let error = error as? PreferencesError else { return "error other \(error)" }
  let codes: [(PreferencesError.Code, String)] = [
    (.notFound, "notFound"), (.damaged, "damaged"), (.inputOutput, "inputOutput"),
    (.unstorable, "unstorable"), (.typeMismatch, "typeMismatch"), (.unknownKey, "unknownKey"),
    (.readOnly, "readOnly"), (.invalidName, "invalidName"), (.noPlace, "noPlace"),
    (.insecure, "insecure"), (.unsupportedFormat, "unsupportedFormat"), (.timedOut, "timedOut"),
    (.conflict, "conflict"), (.forked, "forked"), (.outcomeUnknown, "outcomeUnknown"),
  ]
  let name = codes.first { $0.0 == error.code }?.1 ?? "unknown"
  return "error \(name) \(error.message)"
}
