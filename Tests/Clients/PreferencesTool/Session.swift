internal import Foundation
internal import Glibc
internal import Prephirences
internal import PrephirencesDurable

/// The commands of a process on one suite.
final class Session {
  let store: DurablePreferences
  private var time = 0
  private var observations: [PreferenceObservation] = []

  init(_ store: DurablePreferences) { self.store = store }

  /// Runs a command.
  ///
  /// - Returns: `false` if it failed; the failure was then reported.
  func run(_ words: [String]) -> Bool {
    var words = words[...]
    do {
      try run(words.popFirst() ?? "", &words)
      return true
    } catch {
      report(described(error))
      return false
    }
  }

  private func run(_ command: String, _ words: inout ArraySlice<String>) throws {
    switch command {
    case "open": try store.open()
    case "set": try set(words.popFirst() ?? "", words.popFirst() ?? "")
    case "timed":
      try set(words.popFirst() ?? "", words.popFirst() ?? "")
      time = now()
      report("set")
    case "time": report("\(time)")
    case "bulk": try bulk(words.popFirst() ?? "", number(words.popFirst()))
    case "remove": try store.storeObject(nil, forKey: words.popFirst() ?? "")
    case "get": report(Self.text(try store.fetchObject(forKey: words.popFirst() ?? "")))
    case "plain-get": report(Self.text(store.object(forKey: words.popFirst() ?? "")))
    case "plain-set":
      // The first argument is evaluated first.
      let key = words.popFirst() ?? ""
      store.set(words.popFirst(), forKey: key)
    case "last": report(store.lastError.map(described) ?? "none")
    case "dump": dump()
    case "count": report("\(store.dictionary().count)")
    case "synchronize": try store.synchronize()
    case "checkpoint": _ = try store.checkpoint()
    case "sets": try sets(words.popFirst() ?? "", number(words.popFirst()))
    case "overwrite": try overwrite(words.popFirst() ?? "", number(words.popFirst()))
    case "update": try update(words.popFirst() ?? "", number(words.popFirst()))
    case "pairs": try pairs(number(words.popFirst()))
    case "whole": try whole(number(words.popFirst()))
    case "read": try read(words.popFirst() ?? "", number(words.popFirst()))
    case "scan": try scan(number(words.popFirst()))
    case "observe": observe(words.popFirst())
    case "keep-observing":
      observe(words.popFirst())
      sleep(1000)
    case "observe-often":
      for _ in 0..<number(words.popFirst()) { store.observe(forKey: "a") { _ in }.cancel() }
    case "report-failures": reportFailures()
    case "limit": limitFiles(number(words.popFirst()))
    case "stop": try stopInTransaction()
    case "fork": try fork()
    case "memory": report("\(memory())")
    case "close-all": closeAll(words.popFirst() ?? "")
    default: try runSharing(command, Array(words))
    }
  }

  private func number(_ word: String?) -> Int { word.flatMap { Int($0) } ?? .max }

  static func text(_ value: PreferenceObject?) -> String {
    value.map { "value \($0)" } ?? "absent"
  }

  /// Numbers are stored as numbers; `xN` stands for N bytes.
  private func set(_ key: String, _ word: String) throws {
    if word.hasPrefix("x"), let count = Int(word.dropFirst()) {
      return try store.storeObject(Data(repeating: 7, count: count), forKey: key)
    }
    if let number = Int(word) { return try store.storeObject(number, forKey: key) }
    try store.storeObject(word, forKey: key)
  }

  private func bulk(_ prefix: String, _ count: Int) throws {
    try store.transaction { _ in
      for number in 0..<count { try store.storeObject(number, forKey: "\(prefix)\(number)") }
    }
  }

  private func dump() {
    for (key, value) in store.dictionary().sorted(by: { $0.key < $1.key }) {
      report("\(key) \(value)")
    }
  }

  // MARK: - Writers

  /// Sets keys in order, each to its number.
  private func sets(_ prefix: String, _ count: Int) throws {
    for number in 0..<count {
      try store.storeObject(number, forKey: "\(prefix)\(number)")
      report("\(number)")
    }
  }

  /// Sets one key to 1, 2, 3 and so on.
  private func overwrite(_ key: String, _ count: Int) throws {
    for number in 1...count {
      try store.storeObject(number, forKey: key)
      report("\(number)")
    }
  }

  /// Increments one key, while others may do the same.
  private func update(_ key: String, _ count: Int) throws {
    let counter = DurablePreferences.Key<Int>(key, default: 0)
    for _ in 0..<count {
      try store.update(counter) { $0 += 1 }
      report("updated")
    }
  }

  /// Sets two keys to one new value, in a transaction, and removes them in every third.
  private func pairs(_ count: Int) throws {
    for number in 1...count {
      let value: Int? = number.isMultiple(of: 3) ? nil : number &* Int(getpid())
      try store.transaction { _ in
        try store.storeObject(value, forKey: "left")
        for other in 0..<20 { try store.storeObject(number, forKey: "other\(other)") }
        try store.storeObject(value, forKey: "right")
      }
      report("\(number)")
    }
  }

  // MARK: - Readers

  /// Checks that the keys of `pairs` are always equal.
  private func whole(_ count: Int) throws {
    report("ready")
    for round in 0..<count {
      var left: PreferenceObject?
      var right: PreferenceObject?
      if round.isMultiple(of: 2) {
        let all = store.dictionary()
        (left, right) = (all["left"], all["right"])
      } else {
        try store.transaction { _ in
          left = try store.fetchObject(forKey: "left")
          right = try store.fetchObject(forKey: "right")
        }
      }
      guard Self.text(left) == Self.text(right) else {
        return report("torn \(Self.text(left)) \(Self.text(right))")
      }
    }
    report("whole")
  }

  /// Checks that the number of a key never goes back.
  private func read(_ key: String, _ count: Int) throws {
    report("ready")
    var last = -1
    for _ in 0..<count {
      let found = try store.fetchObject(forKey: key) as? Int ?? 0
      guard found >= last else { return report("back from \(last) to \(found)") }
      last = found
    }
    report("read \(last)")
  }

  private func scan(_ count: Int) throws {
    report("ready")
    for _ in 0..<count where store.dictionary().isEmpty {
      if let error = store.lastError { throw error }
    }
  }

  // MARK: - Observation

  /// Prints the changes of a key, or of all, with the time at which they were reported.
  private func observe(_ key: String?) {
    let observer = PreferenceObserver(keys: key.map { [$0] }) { change in
      report("change \(change.key) \(Self.text(change.newValue)) \(now())")
    }
    observations.append(store.addObserver(observer))
    report("ready")
  }

  /// Prints the failures of what does not throw.
  private func reportFailures() {
    observations.append(store.observeFailures { report("failure \(described($0))") })
  }
}

/// Returns the time on a clock that all processes share, in microseconds.
func now() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

extension PreferencesTool {
  /// Uses the durable preferences in its environment, and prints a line for each completed step.
  ///
  /// The arguments are a suite and a command, or a suite alone: then the commands are the lines of
  /// the standard input, and `done` ends each answer.
  static func session(_ arguments: [String]) {
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
  return "error \(error.code) \(error.message)"
}

extension Session {
  /// Stops this process while it holds the lock of writers, after its first change.
  func stopInTransaction() throws {
    try store.transaction { _ in
      try store.storeObject("never", forKey: "stopped")
      report("stopping")
      raise(SIGSTOP)
      try store.storeObject("never", forKey: "continued")
    }
    report("continued")
  }

  /// Uses the store in a forked child, then in this process.
  ///
  /// `fork` is not available in Swift, because few functions may be called in the child; but
  /// libraries in C call it.
  func fork() throws {
    try store.storeObject("parent", forKey: "fork")
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { exit(70) }
    let child = unsafeBitCast(symbol, to: Fork.self)()
    if child == 0 {
      report("child get \(attempt { Self.text(try store.fetchObject(forKey: "fork")) })")
      report("child set \(attempt { try store.storeObject("child", forKey: "fork") })")
      report("child plain \(Self.text(store.object(forKey: "fork")))")
      report("child last \(store.lastError.map(described) ?? "none")")
      report("child synchronize \(attempt { try store.synchronize() })")
      report("child open \(attempt { try store.open() })")
      report("child dictionary \(store.dictionary().count)")
      _exit(0)
    }
    waitpid(child, nil, 0)
    report("parent \(Self.text(try store.fetchObject(forKey: "fork")))")
    try store.storeObject("after", forKey: "fork")
    report("parent \(Self.text(try store.fetchObject(forKey: "fork")))")
  }

  /// Closes all descriptors, as a daemon does, and opens other files, which get their numbers.
  func closeAll(_ folder: String) {
    for number in 3..<1024 { close(Int32(number)) }
    for number in 0..<16 {
      let opened = open("\(folder)/foreign\(number)", O_RDWR | O_CREAT, 0o600)
      _ = write(opened, "foreign", 7)
      lseek(opened, 0, SEEK_SET)
    }
  }

  /// Sets how many files this process may have open; those that are open stay so.
  func limitFiles(_ count: Int) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
    limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
    setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
  }

  /// Returns the memory that this process uses, in megabytes.
  func memory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? .max) / 1024
  }

  private func attempt(_ body: () throws -> Any) -> String {
    do { return "\(try body())" } catch { return described(error) }
  }
}
