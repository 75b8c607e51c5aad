package import KeychainCredentials
package import PrephirencesFiles

/// A lock on something that one process of the user does at a time, held until the value is destroyed.
package struct StateLock: ~Copyable {
  private let lock: FileLock

  /// Takes the lock.
  ///
  /// - Parameters:
  ///   - name: The name of the lock's file, which lies in the state folder and stays there.
  ///   - environment: Says where that is.
  ///   - time: How long to wait for another process.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/busy`` if another process has it for longer.
  package init(
    _ name: String, environment: EnvironmentVariables, within time: Duration = .zero
  ) throws(KeychainError) {
    let folder = try Locations(environment: environment).stateFolder()
    do throws(FileError) {
      try PrivateFile.makeFolder(folder)
      let path = try TrustedPath(resolving: folder).path + "/" + name
      lock = try FileLock(exclusive: path, deadline: Deadline(after: time))
    } catch {
      guard error.kind == .timedOut else { throw KeychainError(error) }
      throw KeychainError(
        .busy, "another process holds \(error.path)",
        recovery: "wait until it has ended, and try again")
    }
  }
}
