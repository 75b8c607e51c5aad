internal import CPrephirencesLibsodium
internal import Glibc
internal import Synchronization

/// Guarded memory that grows, for a secret whose length is not known beforehand.
@safe
public struct SecretBuffer: ~Copyable {
  private var storage: SecretBytes

  /// The number of bytes written so far.
  public private(set) var count = 0

  /// Creates an empty buffer.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public init() throws(KeychainError) { try self.init(capacity: 4096) }

  package init(capacity: Int) throws(KeychainError) { storage = try SecretBytes(zeroed: capacity) }

  /// Appends one byte.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public mutating func append(_ byte: UInt8) throws(KeychainError) {
    try reserve(1)
    unsafe storage.fill { unsafe $0[count] = byte }
    count += 1
  }

  /// Appends bytes.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public mutating func append(_ bytes: RawSpan) throws(KeychainError) {
    try reserve(bytes.byteCount)
    unsafe bytes.withPointer { source, length in
      unsafe storage.fill { unsafe ($0 + count).update(from: source, count: length) }
    }
    count += bytes.byteCount
  }

  /// Appends a secret.
  package mutating func append(_ secret: borrowing SecretBytes) throws(KeychainError) {
    try secret.withBytes { bytes throws(KeychainError) in try append(bytes) }
  }

  /// Appends text that is not secret.
  package mutating func append(_ text: String) throws(KeychainError) {
    for byte in text.utf8 { try append(byte) }
  }

  /// Removes and wipes the last bytes; removing more than there are empties the buffer.
  public mutating func removeLast(_ removed: Int) {
    let kept = max(0, count - max(0, removed))
    unsafe storage.fill { unsafe sodium_memzero($0 + kept, count - kept) }
    count = kept
  }

  /// The last byte, or `nil` if the buffer is empty.
  public var last: UInt8? { count == 0 ? nil : storage.withBytes { $0.byte(at: count - 1) } }

  /// Calls `body` with the bytes written so far; the span must not outlive the call.
  public borrowing func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let count = count
    return try storage.withBytes { bytes throws(Failure) in try body(bytes.extracting(0..<count)) }
  }

  /// Returns the bytes, and wipes the buffer.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public consuming func finish() throws(KeychainError) -> SecretBytes {
    let count = count
    return try storage.withBytes { bytes throws(KeychainError) in
      try SecretBytes(copying: bytes.extracting(0..<count))
    }
  }

  /// Reserves `additional` bytes for `body`, which returns how many it has written.
  mutating func append(
    upTo additional: Int,
    _ body: (UnsafeMutablePointer<UInt8>, Int) throws(KeychainError) -> Int
  ) throws(KeychainError) -> Int {
    try reserve(additional)
    var written = 0
    try unsafe storage.fill { out throws(KeychainError) in
      written = try unsafe body(out + count, additional)
    }
    count += written
    return written
  }

  private mutating func reserve(_ additional: Int) throws(KeychainError) {
    guard count + additional > storage.count else { return }
    let larger = try SecretBytes(zeroed: max(storage.count * 2, count + additional))
    let count = count
    unsafe storage.withPointer { old in
      unsafe larger.fill { unsafe $0.update(from: old, count: count) }
    }
    storage = larger
  }

  /// Appends the bytes that a descriptor has now, with one system call, and returns their number.
  ///
  /// The number is 0 at the end; `nil` if the call was interrupted, or if a descriptor in
  /// non-blocking mode has nothing yet.
  package mutating func append(
    readingOnce descriptor: Int32, limit: Int
  ) throws(KeychainError) -> Int? {
    var isReady = true
    let count = try unsafe append(upTo: limit) { out, room throws(KeychainError) in
      let count = unsafe read(descriptor, out, room)
      if count >= 0 { return count }
      guard errno == EINTR || errno == EAGAIN else { throw .inputOutput(errno: errno) }
      isReady = false
      return 0
    }
    return isReady ? count : nil
  }
}

/// One guarded allocation, divided into small slots.
///
/// Each `sodium_malloc` takes at least four pages and a dozen system calls, and a process may lock
/// only a little memory (8 MiB by default). So keys, short secrets and the padded texts of most
/// items share pages.
@safe
final class SecretSlab {
  static let byteCount = 16384

  let pool: SecretSlabPool
  fileprivate let base: UnsafeMutableRawPointer
  private var freeSlots: [Int]

  fileprivate init(_ pool: SecretSlabPool) throws(KeychainError) {
    try Sodium.start()
    guard let base = unsafe sodium_malloc(Self.byteCount) else { throw .outOfMemory }
    unsafe self.base = base
    self.pool = pool
    freeSlots = Array(0..<pool.slotCount)
    unsafe sodium_memzero(base, Self.byteCount)
  }

  deinit { unsafe sodium_free(base) }

  /// Wipes a slot and returns it.
  func release(_ slot: UnsafeMutableRawPointer) {
    unsafe sodium_memzero(slot, pool.slotSize)
    pool.take(back: unsafe (slot - base) / pool.slotSize, of: self)
  }

  fileprivate var isFull: Bool { freeSlots.isEmpty }
  fileprivate var isEmpty: Bool { freeSlots.count == pool.slotCount }

  fileprivate func takeFreeSlot() -> Int { freeSlots.removeLast() }

  fileprivate func addFreeSlot(_ index: Int) { freeSlots.append(index) }
}

/// The slabs with slots of one size.
final class SecretSlabPool: Sendable {
  /// Keys, and short secrets.
  static let short = SecretSlabPool(slotSize: 64)

  /// The padded texts of most items.
  static let padded = SecretSlabPool(slotSize: 256)

  let slotSize: Int
  var slotCount: Int { SecretSlab.byteCount / slotSize }

  // The slabs with a free slot. Allocation uses the last one, so that its cost does not grow with
  // the number of secrets. A full slab is kept alive only by its secrets.
  private let withRoom = Mutex<[SecretSlab]>([])

  private init(slotSize: Int) { self.slotSize = slotSize }

  /// Returns the pool for a number of bytes; `nil` if no pool has slots of that size.
  static func fitting(_ count: Int) -> SecretSlabPool? {
    if count <= short.slotSize { return short }
    return count <= padded.slotSize ? padded : nil
  }

  /// The number of slabs with a free slot, for tests.
  var countWithRoom: Int { withRoom.withLock(\.count) }

  /// Returns a zeroed slot and its slab, creating a new slab if all are full.
  func allocate() throws(KeychainError) -> (SecretSlab, UnsafeMutableRawPointer) {
    let taken = withRoom.withLock { slabs -> Result<(SecretSlab, Int), KeychainError> in
      do throws(KeychainError) {
        let slab = if let slab = slabs.last { slab } else { try SecretSlab(self) }
        if slabs.isEmpty { slabs.append(slab) }
        let slot = slab.takeFreeSlot()
        if slab.isFull { slabs.removeLast() }
        return .success((slab, slot))
      } catch { return .failure(error) }
    }
    let (slab, slot) = try taken.get()
    return unsafe (slab, slab.base + slot * slotSize)
  }

  /// Takes a wiped slot back, and frees an empty slab, except one spare.
  fileprivate func take(back index: Int, of slab: SecretSlab) {
    withRoom.withLock { slabs in
      if slab.isFull { slabs.append(slab) }
      slab.addFreeSlot(index)
      if slab.isEmpty, slabs.count > 1 { slabs.removeAll { $0 === slab } }
    }
  }
}

// @unchecked Sendable because `base` never changes and the pool's mutex protects `freeSlots`.
extension SecretSlab: @unchecked Sendable {}

/// Whether secrets can be kept out of swap.
@nonexhaustive public enum MemoryLocking: String, Codable, Hashable, Sendable {
  /// Memory can be locked, as far as the limit allows.
  case available

  /// The limit (`RLIMIT_MEMLOCK`) allows to lock no page.
  case limited

  /// The call is denied although the limit allows it, for example by a container's or service's
  /// seccomp filter.
  case denied
}

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
  /// This tests one page. The limit (`RLIMIT_MEMLOCK`) may still be too small for large secrets.
  public static var canLockMemory: Bool { memoryLocking == .available }

  /// Whether memory can be locked here, or what prevents it.
  ///
  /// This tests one page. A limit of 0 bytes and a filter give the same error, which is reported as
  /// the limit.
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

  /// The number of bytes that may be locked (`RLIMIT_MEMLOCK`); `nil` without a limit.
  public static var lockedMemoryLimit: UInt64? {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit)
    return limit.rlim_cur == rlim_t.max ? nil : UInt64(limit.rlim_cur)
  }
}
