internal import Glibc
public import KeychainCredentials
internal import KeychainSecrets

// What the kernel accepts (`E2BIG`), found before anything is started.
extension ChildEnvironment {
  /// Checks that the kernel will accept the environment together with the arguments.
  ///
  /// Linux limits each variable and argument to 32 pages (128 KiB), and all of them to a quarter of
  /// the stack's limit, at most 6 MiB.
  ///
  /// - Parameter arguments: The words of the command.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `tooLarge`, which names the variable.
  public func checkSize(arguments: [[UInt8]]) throws(KeychainError) {
    let textLimit = 32 * sysconf(Int32(_SC_PAGESIZE))
    for (name, value) in added where name.utf8.count + value.bytes.count + 2 > textLimit {
      throw .variableTooLong(name)
    }
    let sizes =
      arguments.map(\.count) + inherited.map(\.entry.count)
      + added.map { $0.name.utf8.count + 1 + $0.value.bytes.count }
    let pointer = MemoryLayout<UnsafePointer<CChar>>.size
    // The path of the program and what the kernel itself puts there.
    let total = sizes.reduce(Int(PATH_MAX) + 4096) { $0 + $1 + 1 + pointer }
    guard total > Self.totalLimit else { return }
    let largest = added.max { $0.value.bytes.count < $1.value.bytes.count }
    throw .environmentTooLarge(largest?.name)
  }

  /// See `bprm_stack_limits` in the kernel, and execve(2).
  private static var totalLimit: Int {
    var stack = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &stack)
    let quarter = Int(min(stack.rlim_cur / 4, 6 << 20))
    return max(quarter, 128 << 10)
  }
}
