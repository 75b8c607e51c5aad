internal import CLibsodium
internal import Glibc

/// Protects the memory of a process from other processes.
public enum ProcessProtection {
  /// Disables core dumps, and `ptrace` and `/proc/<pid>/mem` for other processes of the user.
  ///
  /// The superuser can still read everything. A failure is not reported, because a caller could do
  /// nothing about it.
  ///
  /// Programs that this process starts can create core dumps again: only the soft limit is lowered,
  /// because nobody but the superuser could raise the hard one.
  ///
  /// The corresponding C functions are `setrlimit` and `prctl` with `PR_SET_DUMPABLE`.
  public static func hideMemory() {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    limit.rlim_cur = 0
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    _ = clibsodium_set_not_dumpable()
  }

  /// Whether memory can be locked here, so that it is never written to swap.
  ///
  /// Tests it with one page. The limit (`RLIMIT_MEMLOCK`) may still be too small for large secrets.
  public static var canLockMemory: Bool { memoryLocking == .available }

  /// Whether memory can be locked here, or what prevents it.
  ///
  /// Tests it with one page. A limit of 0 bytes and a filter give the same error; the limit is
  /// reported then.
  public static var memoryLocking: MemoryLocking {
    let size = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard
      let page = unsafe mmap(
        nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      unsafe page != MAP_FAILED
    else { return .limited }
    defer { unsafe munmap(page, size) }
    if unsafe mlock(page, size) == 0 { return .available }
    // See mlock(2): the limit causes ENOMEM and EAGAIN, and EPERM only if it is 0.
    let isOfLimit = errno == ENOMEM || errno == EAGAIN || lockedMemoryLimit == 0
    return isOfLimit ? .limited : .denied
  }

  /// The number of bytes that may be locked (`RLIMIT_MEMLOCK`), or `nil` if there is no limit.
  public static var lockedMemoryLimit: UInt64? {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit)
    return limit.rlim_cur == rlim_t.max ? nil : UInt64(limit.rlim_cur)
  }
}
