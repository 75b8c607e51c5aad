internal import CLibsodium
internal import Synchronization

/// One guarded allocation, cut into small slots.
///
/// Each `sodium_malloc` takes at least four pages and a dozen system calls, and a process may lock
/// little memory (8 MiB by default). Therefore keys, short secrets and the padded texts of most
/// items share pages.
@safe
final class SecretSlab {
  static let byteCount = 16384

  let pool: SecretSlabPool
  fileprivate let base: UnsafeMutableRawPointer
  private var freeSlots: [Int]

  fileprivate init(_ pool: SecretSlabPool) throws(SecretsError) {
    try Sodium.start()
    guard let base = unsafe sodium_malloc(Self.byteCount) else {
      throw SecretsError(.outOfMemory)
    }
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
  // the number of secrets. Only its secrets keep a full slab alive.
  private let withRoom = Mutex<[SecretSlab]>([])

  private init(slotSize: Int) { self.slotSize = slotSize }

  /// Returns the pool for a number of bytes; `nil` if no pool has slots of that size.
  static func fitting(_ count: Int) -> SecretSlabPool? {
    [short, padded].first { count <= $0.slotSize }
  }

  /// The number of slabs with a free slot, for tests.
  var countWithRoom: Int { withRoom.withLock(\.count) }

  /// Returns a zeroed slot and its slab, creating a new slab if all are full.
  func allocate() throws(SecretsError) -> (SecretSlab, UnsafeMutableRawPointer) {
    let taken = withRoom.withLock { slabs -> Result<(SecretSlab, Int), SecretsError> in
      do throws(SecretsError) {
        let slab = if let slab = slabs.last { slab } else { try SecretSlab(self) }
        if slabs.isEmpty { slabs.append(slab) }
        let slot = slab.takeFreeSlot()
        if slab.isFull { slabs.removeLast() }
        return .success((slab, slot))
      } catch {
        return .failure(error)
      }
    }
    let (slab, slot) = try taken.get()
    return unsafe (slab, slab.base + slot * slotSize)
  }

  /// Takes a wiped slot back.
  ///
  /// Frees an empty slab, except one spare.
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
