internal import Foundation
internal import Glibc
internal import Prephirences
internal import PrephirencesDurable

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
