internal import CLibsodium
internal import Synchronization

/// One guarded allocation, cut into small slots.
///
/// `sodium_malloc` takes at least four pages and several system calls, and the memory that a process
/// may lock is scarce (8 MiB by default). Keys and short secrets therefore share pages.
@safe
final class SecretSlab {
  static let slotSize = 64
  private static let slotCount = 256

  private let base: UnsafeMutableRawPointer
  private let occupied: Mutex<[Bool]>

  private init() throws(SecretsError) {
    try Sodium.start()
    guard let base = unsafe sodium_malloc(Self.slotSize * Self.slotCount) else {
      throw SecretsError(.outOfMemory)
    }
    unsafe self.base = base
    unsafe sodium_memzero(base, Self.slotSize * Self.slotCount)
    occupied = Mutex(Array(repeating: false, count: Self.slotCount))
  }

  deinit { unsafe sodium_free(base) }

  private func takeSlot() -> UnsafeMutableRawPointer? {
    let slot = occupied.withLock { occupied -> Int? in
      guard let free = occupied.firstIndex(of: false) else { return nil }
      occupied[free] = true
      return free
    }
    guard let slot else { return nil }
    return unsafe base + slot * Self.slotSize
  }

  /// Wipes a slot and gives it back.
  func release(_ slot: UnsafeMutableRawPointer) {
    unsafe sodium_memzero(slot, Self.slotSize)
    let index = unsafe (slot - base) / Self.slotSize
    occupied.withLock { $0[index] = false }
  }

  private static let slabs = Mutex<[SecretSlab]>([])

  /// Returns a zeroed slot and the slab it belongs to; a new slab is made when all are full.
  static func allocate() throws(SecretsError) -> (SecretSlab, UnsafeMutableRawPointer) {
    let result = unsafe slabs.withLock {
      slabs -> Result<(SecretSlab, UnsafeMutableRawPointer), SecretsError> in
      for slab in slabs {
        if let slot = unsafe slab.takeSlot() { return unsafe .success((slab, slot)) }
      }
      do throws(SecretsError) {
        let slab = try SecretSlab()
        slabs.append(slab)
        guard let slot = unsafe slab.takeSlot() else { throw SecretsError(.outOfMemory) }
        return unsafe .success((slab, slot))
      } catch {
        return unsafe .failure(error)
      }
    }
    return unsafe try result.get()
  }
}

// @unchecked Sendable because `base` never changes and `occupied` is protected by its mutex.
extension SecretSlab: @unchecked Sendable {}
