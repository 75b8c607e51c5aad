internal import Foundation
internal import PrephirencesSystem

/// Prevents two processes from saving user defaults at the same time.
///
/// To save, Foundation reads the file, applies the changes of the process, and writes the whole
/// file: changes that another process saved in between are lost. With this lock, one process waits
/// for the other. The lock is on the folder of the files, so no lock file is left behind, and it
/// ends with the process.
enum UserDefaultsLock {
  /// The time to wait for other processes: a process that is stopped while it saves must not block
  /// others, or make each change slow.
  private static let timeout = PosixMutex(Duration.seconds(5))

  static func withLock<Result>(_ body: () -> Result) -> Result {
    let folder = openFolder()
    guard folder >= 0 else { return body() }
    defer { close(folder) }
    lock(folder)
    return body()
  }

  /// Waits for the lock, and continues without it if that fails.
  private static func lock(_ file: Int32) {
    let deadline = ContinuousClock.now + timeout.withLock { $0 }
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { return }
      guard ContinuousClock.now < deadline else {
        return timeout.withLock { $0 = .milliseconds(20) }
      }
      usleep(.random(in: 200...1000))
    }
    timeout.withLock { $0 = .seconds(5) }
  }

  /// Opens the folder; creates it if it is missing.
  private static func openFolder() -> Int32 {
    let path = path
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder < 0, errno == ENOENT, mkdir(path, 0o700) == 0 || errno == EEXIST else {
      return folder
    }
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  }

  /// The path where Foundation stores the files; for preferences it does not use the home of the
  /// account.
  private static var path: String {
    let environment = ProcessInfo.processInfo.environment
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder }
    return (environment["HOME"] ?? "") + "/.config"
  }
}
