internal import Foundation
internal import Glibc
internal import Prephirences
internal import Synchronization

private let output = Mutex(())

/// Prints a line at once, and whole: it is there if the process is killed next.
func report(_ answer: [String: Any]) {
  let fields = answer.mapValues(plain)
  guard var line = try? JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys])
  else { exit(70) }
  line.append(10)
  output.withLock { _ in
    var rest = line[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      guard count > 0 else { exit(0) }
      rest = rest.dropFirst(count)
    }
  }
}

/// Returns what JSON can say of a value.
func plain(_ value: Any?) -> Any {
  switch value {
  case nil, is NSNull: NSNull()
  case let value as String: value
  case let value as Data: ["bytes": value.count]
  case let value as NSNumber: value
  case let value as [Any]: value.map(plain)
  case let value as [String: Any]: value.mapValues(plain)
  case let value?: "\(value)"
  }
}

/// Returns the name of an error's code, and its message.
func described(_ error: any Error) -> [String: Any] {
  guard let error = error as? PreferencesError else {
    return ["error": "other", "message": "\(error)"]
  }
  let codes: [(PreferencesError.Code, String)] = [
    (.damaged, "damaged"), (.inputOutput, "inputOutput"), (.unstorable, "unstorable"),
    (.readOnly, "readOnly"), (.timedOut, "timedOut"), (.conflict, "conflict"),
    (.locked, "locked"), (.invalidAddress, "invalidAddress"), (.unreachable, "unreachable"),
    (.accessDenied, "accessDenied"), (.wrongPassword, "wrongPassword"),
    (.foreignStore, "foreignStore"), (.overQuota, "overQuota"),
    (.outcomeUnknown, "outcomeUnknown"), (.certificate, "certificate"),
  ]
  let name = codes.first { $0.0 == error.code }?.1 ?? "other"
  return ["error": name, "message": error.message]
}

/// Returns the time on a clock that all processes share, in microseconds.
func now() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}
