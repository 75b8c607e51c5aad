import Foundation
import Glibc
import PrephirencesShared

/// Another machine with the same shared preferences: a process with a home of its own.
///
/// | arguments | does |
/// | --- | --- |
/// | `observe ADDRESS SUITE KEY` | prints the value of a key and the time, at each change |
/// | `hold ADDRESS SUITE COUNT` | prints the memory and the connections once it has as many keys |
/// | `hold-plain SUITE COUNT` | the same of durable preferences that it fills |
@main
struct SharedPeer {
  struct UsageError: Error {}

  static func main() throws {
    let words = Array(CommandLine.arguments.dropFirst())
    switch (words.first, words.count) {
    case ("observe", 4):
      observe(try shared(words[2], words[1]), words[3])
    case ("hold", 4):
      let preferences = try shared(words[2], words[1])
      try hold(try count(words[3])) {
        preferences.dictionary()
      } observing: {
        preferences.addObserver($0)
      } finally: {
        // It has sent something, too: all of its connections were needed.
        preferences.set("held", forKey: "held")
        try preferences.flush(deadline: .seconds(60))
      }
      // They follow only while they exist.
      withExtendedLifetime(preferences) {}
    case ("hold-plain", 3):
      let preferences = DurablePreferences(suiteName: words[1])
      let content = (0..<(try count(words[2]))).map { ("key \($0)", "value \($0)") }
      preferences.set(dictionary: Dictionary(uniqueKeysWithValues: content))
      try hold(content.count) {
        preferences.dictionary()
      } observing: {
        preferences.addObserver($0)
      } finally: {
        preferences.set("held", forKey: "held")
      }
    default: throw UsageError()
    }
  }

  private static func count(_ word: String) throws -> Int {
    guard let count = Int(word) else { throw UsageError() }
    return count
  }

  private static func shared(_ suite: String, _ address: String) throws -> SharedPreferences {
    var configuration = SharingConfiguration(address: address)
    configuration.quotaKeys = 100_000
    configuration.quotaBytes = 100 << 20
    try SharedPreferences.share(suiteName: suite, with: configuration)
    return SharedPreferences(suiteName: suite)
  }

  /// Writes a line at once: the reader of the pipe waits for it.
  private static func say(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
  }

  private static func observe(_ preferences: SharedPreferences, _ key: String) {
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

  /// Waits until there are as many keys as expected; each line of the input asks for the figures.
  private static func hold(
    _ count: Int, _ content: () -> PreferencesDictionary,
    observing: (PreferenceObserver) -> PreferenceObservation, finally: () throws -> Void
  ) throws {
    let changed = DispatchSemaphore(value: 0)
    let observation = observing(PreferenceObserver(keys: nil) { _ in changed.signal() })
    let deadline = DispatchTime.now() + 60
    while content().count < count {
      guard changed.wait(timeout: deadline) == .success else { return say("incomplete") }
    }
    try finally()
    say("ready")
    while readLine() != nil { say("\(residentBytes) \(connections)") }
    observation.cancel()
  }

  /// The memory of this process that no file has.
  private static var residentBytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
    return (line.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0) * 1024
  }

  /// The number of connections that this process has open.
  private static var connections: Int {
    let folder = "/proc/self/fd/"
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let open = Set(
      files.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: folder + $0) })
    return ["tcp", "tcp6"].reduce(0) { sum, table in
      let text = (try? String(contentsOfFile: "/proc/self/net/\(table)", encoding: .utf8)) ?? ""
      return sum
        + text.split(separator: "\n").dropFirst().count { line in
          let fields = line.split(separator: " ")
          return fields.count > 9 && open.contains("socket:[\(fields[9])]")
        }
    }
  }
}
