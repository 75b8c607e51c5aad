internal import Synchronization

/// The connections of the process: one for each bus, opened by the first call that needs it.
///
/// A provider that asks a person about each new program would ask about each connection.
enum ConnectionPool {
  /// A list, since a process rarely has a second bus, and the first use of a dictionary takes longer.
  private static let slots = Mutex<[ConnectionSlot]>([])

  static func slot(for address: BusAddress) -> ConnectionSlot {
    slots.withLock { slots in
      if let slot = slots.first(where: { $0.address == address }) { return slot }
      let slot = ConnectionSlot(address)
      slots.append(slot)
      return slot
    }
  }
}
