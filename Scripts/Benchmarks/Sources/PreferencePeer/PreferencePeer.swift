import Foundation
import Glibc
import Prephirences
import PrephirencesDurable

/// A second process with preferences; it prints the times that it measures, in seconds.
///
/// | arguments | does |
/// | --- | --- |
/// | `first-durable SUITE KEY` | reads one value as the first work of the process |
/// | `first-defaults SUITE KEY` | the same from `UserDefaults` |
/// | `gets SUITE SIZE COUNT` | reads integers that the process has not read yet, at even keys far from each other |
/// | `sets SUITE NAME COUNT` | sets values of keys that no other process has |
/// | `observe SUITE KEY` | prints the value of a key and the time, at each change |
@main
struct PreferencePeer {
  struct UsageError: Error {}

  static func main() throws {
    let words = Array(CommandLine.arguments.dropFirst())
    guard words.count >= 3 else { throw UsageError() }
    let preferences = DurablePreferences(suiteName: words[1])
    switch (words[0], words.count) {
    case ("first-durable", 3):
      let time = try seconds { preferences.integer(forKey: words[2]) != 0 }
      say(time)
    case ("first-defaults", 3):
      let time = try seconds {
        UserDefaults(suiteName: words[1])?.integer(forKey: words[2]) ?? 0 != 0
      }
      say(time)
    case ("gets", 4):
      let size = Int(words[2]) ?? 1
      let count = Int(words[3]) ?? 1
      _ = preferences.integer(forKey: "key 0")
      let time = try seconds {
        (1...count).allSatisfy { preferences.integer(forKey: "key \($0 * 7918 % size)") != 0 }
      }
      say(time / Double(count))
    case ("sets", 4):
      let count = Int(words[3]) ?? 1
      preferences.set(true, forKey: "writer \(words[2])")
      say("ready")
      _ = readLine()
      for number in 1...count { preferences.set(number, forKey: "\(words[2]) \(number)") }
      guard preferences.integer(forKey: "\(words[2]) \(count)") == count else { throw UsageError() }
      say("done")
    case ("observe", 3):
      observe(preferences, words[2])
    default:
      throw UsageError()
    }
  }

  /// Writes a line at once: the reader of the pipe waits for it.
  private static func say(_ value: some CustomStringConvertible) {
    FileHandle.standardOutput.write(Data("\(value)\n".utf8))
  }

  /// Returns the duration of work that must succeed.
  private static func seconds(_ body: () -> Bool) throws -> Double {
    let start = ContinuousClock.now
    guard body() else { throw UsageError() }
    return (ContinuousClock.now - start) / .seconds(1)
  }

  private static func observe(_ preferences: DurablePreferences, _ key: String) {
    let observation = preferences.observe(forKey: key) { change in
      var now = timespec()
      clock_gettime(CLOCK_MONOTONIC, &now)
      let number = (change.newValue as? NSNumber)?.intValue ?? 0
      say("\(number) \(now.tv_sec * 1_000_000_000 + now.tv_nsec)")
    }
    say("ready")
    // Ends when the reader closes standard input.
    _ = readLine()
    observation.cancel()
  }
}
