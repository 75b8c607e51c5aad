internal import Foundation

/// Keeps two processes from saving user defaults at the same time.
///
/// To save, Foundation reads the file, changes what the process has set, and writes all of it: what
/// another process saved in between is lost. Where this library saves in both, one waits for the other.
/// The lock is on the folder of the files, so nothing is left behind, and it ends with the process.
enum UserDefaultsLock {
  /// How long to wait for the others: a process that was stopped while it saves must stop no other, and
  /// must not make each change slow.
  private static let patience = Mutex(Duration.seconds(5))

  static func withLock<Result>(_ body: () -> Result) -> Result {
    let folder = openFolder()
    guard folder >= 0 else { return body() }
    defer { close(folder) }
    lock(folder)
    return body()
  }

  /// Waits for the lock, and goes on without it where there is none to be had.
  private static func lock(_ file: Int32) {
    let deadline = ContinuousClock.now + patience.withLock { $0 }
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { return }
      guard ContinuousClock.now < deadline else {
        return patience.withLock { $0 = .milliseconds(20) }
      }
      usleep(.random(in: 200...1000))
    }
    patience.withLock { $0 = .seconds(5) }
  }

  /// Opens the folder, and makes it first if it is not there yet.
  private static func openFolder() -> Int32 {
    let path = path
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder < 0, errno == ENOENT, mkdir(path, 0o700) == 0 || errno == EEXIST else {
      return folder
    }
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  }

  /// Where Foundation keeps the files; for preferences it does not ask for the home of the account.
  private static var path: String {
    let environment = ProcessInfo.processInfo.environment
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder }
    return (environment["HOME"] ?? "") + "/.config"
  }
}
