internal import Glibc
internal import PrephirencesFiles

/// How much memory a process can still get, considering containers and limits.
///
/// The system promises more memory than it has, and ends processes that use it, so a password hash
/// must check first.
enum AvailableMemory {
  /// Bytes; `nil` if unknown.
  static func bytes() -> UInt64? {
    ([machine(), addressSpace()] + ControlGroups().left()).compactMap(\.self).min()
  }

  private static func machine() -> UInt64? {
    SystemText.field("MemAvailable:", in: SystemText.contents(of: "/proc/meminfo")).map { $0 << 10 }
  }

  private static func addressSpace() -> UInt64? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
      limit.rlim_cur != .max,
      let used = SystemText.field("VmSize:", in: SystemText.contents(of: "/proc/self/status"))
    else { return nil }
    return UInt64(limit.rlim_cur).subtractingOrZero(used << 10)
  }
}
