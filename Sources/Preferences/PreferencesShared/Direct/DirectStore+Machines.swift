package import Foundation
package import PreferencesDurable
package import Prephirences
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// A machine that uses a store, as it says itself.
package struct StoreMachine: Sendable {
  package let tag: WriterTag
  package let row: MachineRow
  /// When it was in touch with the store, or changed something, by its own clock.
  package let contact: Date
}

extension DirectStore {
  /// Returns the machines of the store, in the order of their names.
  ///
  /// Of machines without a copy, the last of each name is listed, unless one with a copy has the name.
  package func machines() throws(PreferencesError) -> [StoreMachine] {
    let deadline = Deadline(after: patience)
    var found = try allMachines(deadline)
    found.sort { ($0.row.name, $1.contact) < ($1.row.name, $0.contact) }
    var direct = Set(found.filter { !$0.tag.isForgotten }.map(\.row.name))
    return found.filter { !$0.tag.isForgotten || direct.insert($0.row.name).inserted }
  }

  private func allMachines(_ deadline: Deadline) throws(PreferencesError) -> [StoreMachine] {
    try reporting {
      var found: [StoreMachine] = []
      var dates: [WriterTag: Date] = [:]
      _ = try client.snapshot(layout.writers, deadline: deadline) { page in
        for row in page {
          guard case .writer(let tag) = layout.name(of: row.key) else { continue }
          dates[tag] = WriterRow.date(row.value)
        }
      }
      _ = try client.snapshot(layout.machines, deadline: deadline) { page in
        for stored in page {
          // What a newer release says stays, and is not understood.
          guard case .machine(let tag) = layout.name(of: stored.key),
            let row = MachineRow(stored.value)
          else { continue }
          let contact = max(row.date, dates[tag] ?? row.date)
          found.append(StoreMachine(tag: tag, row: row, contact: contact))
        }
      }
      return found
    }
  }

  /// Removes what a machine says of itself, also what it said without a copy, which it says with each
  /// change; if it is still there, it says so again.
  package func forget(_ machine: StoreMachine) throws(PreferencesError) {
    let deadline = Deadline(after: patience)
    let all = try allMachines(deadline).filter { other in
      other.tag == machine.tag
        || other.tag.isForgotten && other.row.name.utf8.elementsEqual(machine.row.name.utf8)
    }
    try reporting(ofChange: true) {
      for machine in all {
        _ = try client.delete(.one(layout.machine(machine.tag)), deadline: deadline)
      }
    }
  }
}
