internal import CLibsodium
internal import Synchronization

/// One guarded allocation, cut into small slots.
///
/// `sodium_malloc` takes at least four pages and several system calls, and the memory that a process
/// may lock is scarce (8 MiB by default). Keys and short secrets therefore share pages.
@safe
final class SecretSlab {
  static let slotSize = 64
  static let slotCount = 256

  private let base: UnsafeMutableRawPointer
  private var freeSlots = Array(0..<slotCount)

  private init() throws(SecretsError) {
    try Sodium.start()
    guard let base = unsafe sodium_malloc(Self.slotSize * Self.slotCount) else {
      throw SecretsError(.outOfMemory)
    }
    unsafe self.base = base
    unsafe sodium_memzero(base, Self.slotSize * Self.slotCount)
  }

  deinit { unsafe sodium_free(base) }

  // The slabs that have a free slot. Allocation takes the last one, so that its cost does not grow
  // with the number of secrets; a slab with none left is kept alive by its secrets alone.
  private static let withRoom = Mutex<[SecretSlab]>([])

  /// How many slabs have a free slot, for tests.
  static var countWithRoom: Int { withRoom.withLock(\.count) }

  /// Returns a zeroed slot and the slab it belongs to; a new slab is made when all are full.
  static func allocate() throws(SecretsError) -> (SecretSlab, UnsafeMutableRawPointer) {
    let taken = withRoom.withLock { slabs -> Result<(SecretSlab, Int), SecretsError> in
      do throws(SecretsError) {
        let slab = if let slab = slabs.last { slab } else { try SecretSlab() }
        if slabs.isEmpty { slabs.append(slab) }
        let slot = slab.freeSlots.removeLast()
        if slab.freeSlots.isEmpty { slabs.removeLast() }
        return .success((slab, slot))
      } catch {
        return .failure(error)
      }
    }
    let (slab, slot) = try taken.get()
    return unsafe (slab, slab.base + slot * slotSize)
  }

  /// Wipes a slot and gives it back; the last slot but for a spare slab's frees the slab.
  func release(_ slot: UnsafeMutableRawPointer) {
    unsafe sodium_memzero(slot, Self.slotSize)
    let index = unsafe (slot - base) / Self.slotSize
    Self.withRoom.withLock { slabs in
      if freeSlots.isEmpty { slabs.append(self) }
      freeSlots.append(index)
      if freeSlots.count == Self.slotCount, slabs.count > 1 { slabs.removeAll { $0 === self } }
    }
  }
}

// @unchecked Sendable because `base` never changes and `freeSlots` is protected by the mutex of
// `withRoom`.
extension SecretSlab: @unchecked Sendable {}
