internal import Glibc
internal import Testing

@testable internal import KeychainSecrets

/// Returns the result of `prctl(PR_GET_DUMPABLE)`; Swift does not import the variadic function.
private func dumpable() throws -> CInt {
  typealias Function = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
  let symbol = try #require(dlsym(nil, "prctl"))
  return unsafeBitCast(symbol, to: Function.self)(3, 0, 0, 0, 0)
}

private func limit(_ resource: __rlimit_resource) -> rlimit {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(resource.rawValue), &limit)
  return limit
}

@Suite("Process protection")
struct ProcessProtectionTests {
  @Test func hiddenMemoryIsNeitherDumpedNorTraced() async {
    await #expect(processExitsWith: .success) {
      try #require(try dumpable() != 0)
      ProcessProtection.hideMemory()
      try #require(try dumpable() == 0)
      try #require(limit(RLIMIT_CORE).rlim_cur == 0)
    }
  }

  // A program that takes the place of this one must get the limit that this one got.
  @Test func theHardLimitOfCoreFilesStays() async {
    await #expect(processExitsWith: .success) {
      let inherited = limit(RLIMIT_CORE).rlim_max
      ProcessProtection.hideMemory()
      try #require(limit(RLIMIT_CORE).rlim_max == inherited)
    }
  }

  @Test func lockLimitIsTheSystems() async {
    await #expect(processExitsWith: .success) {
      var wanted = limit(__RLIMIT_MEMLOCK)
      let inherited = wanted.rlim_cur == rlim_t.max ? nil : UInt64(wanted.rlim_cur)
      try #require(ProcessProtection.lockedMemoryLimit == inherited)
      wanted.rlim_cur = min(wanted.rlim_max, 8192)
      try #require(setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &wanted) == 0)
      try #require(ProcessProtection.lockedMemoryLimit == UInt64(wanted.rlim_cur))
    }
  }

  // A process without a limit, such as the superuser's, may always lock memory.
  @Test func memoryIsUsableWhereItCannotBeLocked() async {
    await #expect(processExitsWith: .success) {
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      try #require(setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &none) == 0)
      if getuid() != 0 {
        try #require(ProcessProtection.canLockMemory == false)
        try #require(ProcessProtection.memoryLocking == .limited)
      }
      let secret = try SecretBytes(counting(100_000))
      let bytes = secret.array
      try #require(bytes == counting(100_000))
    }
  }
}
