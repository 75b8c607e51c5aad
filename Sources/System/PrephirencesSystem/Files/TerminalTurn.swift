internal import CPrephirencesSystem
internal import Glibc
package import SystemPackage

/// The turn to ask on a terminal: a lock for each terminal and user.
///
/// If several commands run at the same time, one asks and the others wait.
///
/// The locked file is in the user's own folder, where no other user can lock it. The kernel
/// releases the lock when the process ends.
package struct TerminalTurn: ~Copyable, Sendable {
  /// Why a turn was not taken.
  package enum Failure: Error {
    case timedOut(askedBy: Int32?)

    /// The process with this number has the turn, and is stopped.
    case stopped(Int32)

    /// This process has the turn already.
    case isOwn
  }

  private let lock: FileLock

  /// Opens the file of a terminal's lock, but does not lock it.
  package init(on terminal: CInt) throws(FileError) {
    let folder = try UserFolders("keychain", environment: .process).state()
    try PrivateFile.makeFolder(folder)
    let path = "\(folder)/terminal-\(cterminal_device(terminal)).lock"
    lock = try Self.open(path)
  }

  private static func open(_ path: String) throws(FileError) -> FileLock {
    let descriptor = try onFile(
      path, "open",
      UninheritedFiles.open { () throws(Errno) in
        try PrivateFile.open(path, .readWrite, flags: O_CREAT)
      })
    do throws(FileError) {
      // Some file systems have no locks. If this takes the lock, it is kept for the question.
      _ = try onFile(path, "lock", FileLock.tryLock(descriptor, .exclusive))
    } catch {
      UninheritedFiles.forget(descriptor)
      try? descriptor.close()
      throw error
    }
    return FileLock(descriptor)
  }

  deinit { UninheritedFiles.forget(lock.descriptor) }

  /// The open file, to be locked.
  package var descriptor: FileDescriptor { lock.descriptor }

  /// Calls `isTaken` repeatedly until it returns `true`.
  ///
  /// Without a deadline, it waits as long as other questions need; each has its own limit.
  package borrowing func wait<E: Error>(
    _ deadline: Deadline?, until isTaken: () throws(E) -> Bool
  ) throws(E) -> Failure? {
    while try !isTaken() {
      let holder = FileLock.holder(of: descriptor)
      if let holder, holder.number == getpid() { return .isOwn }
      if let holder, holder.isStopped, isStillStopped(holder) { return .stopped(holder.number) }
      if deadline?.hasPassed ?? false { return .timedOut(askedBy: holder?.number) }
      Deadline.pause(upTo: 50)
    }
    return nil
  }

  /// Whether a stopped process stays stopped: the processes of a job continue one after the other.
  private borrowing func isStillStopped(_ process: RunningProcess) -> Bool {
    usleep(500_000)
    return process.isStopped && FileLock.holder(of: descriptor)?.number == process.number
  }

  /// Takes the turn, which ends when the value is destroyed.
  package borrowing func take() throws(Failure) {
    let descriptor = descriptor
    let failure = wait(nil) { (try? FileLock.tryLock(descriptor, .exclusive)) ?? true }
    if let failure { throw failure }
  }
}

extension TerminalTurn.Failure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .timedOut(let number):
      "another question waits for its answer on this terminal\(Self.process(number))"
    case .stopped(let number):
      "a question on this terminal\(Self.process(number)) was stopped before its answer"
    case .isOwn: "this process asks already"
    }
  }

  /// What a person can do about it; `nil` if nothing.
  package var advice: String? {
    switch self {
    case .timedOut: "answer it, and try again"
    case .stopped(let number): "continue it with 'fg', or end it: kill \(number)"
    case .isOwn: nil
    }
  }

  private static func process(_ number: Int32?) -> String {
    number.map { " (process \($0))" } ?? ""
  }
}
