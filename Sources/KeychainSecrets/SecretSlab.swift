internal import CLibsodium
internal import Synchronization

/// One guarded allocation, cut into small slots.
///
/// `sodium_malloc` takes at least four pages and, until it is freed, a dozen system calls, and the memory
/// that a process may lock is scarce (8 MiB by default). Keys, short secrets and the padded texts of most
/// items therefore share pages.
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

  /// Wipes a slot and gives it back.
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

  // The slabs that have a free slot. Allocation takes the last one, so that its cost does not grow
  // with the number of secrets; a slab with none left is kept alive by its secrets alone.
  private let withRoom = Mutex<[SecretSlab]>([])

  private init(slotSize: Int) { self.slotSize = slotSize }

  /// The pool for a number of bytes; `nil` if they are too many for any.
  static func fitting(_ count: Int) -> SecretSlabPool? {
    [short, padded].first { count <= $0.slotSize }
  }

  /// How many slabs have a free slot, for tests.
  var countWithRoom: Int { withRoom.withLock(\.count) }

  /// Returns a zeroed slot and the slab it belongs to; a new slab is made when all are full.
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

  /// Takes a wiped slot back; the last slot but for a spare slab's frees the slab.
  fileprivate func take(back index: Int, of slab: SecretSlab) {
    withRoom.withLock { slabs in
      if slab.isFull { slabs.append(slab) }
      slab.addFreeSlot(index)
      if slab.isEmpty, slabs.count > 1 { slabs.removeAll { $0 === slab } }
    }
  }
}

// @unchecked Sendable because `base` never changes and `freeSlots` is protected by the mutex of the
// pool.
extension SecretSlab: @unchecked Sendable {}
