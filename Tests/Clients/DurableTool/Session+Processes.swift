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

  private func attempt(_ body: () throws -> Any) -> String {
    do { return "\(try body())" } catch { return described(error) }
  }
}
