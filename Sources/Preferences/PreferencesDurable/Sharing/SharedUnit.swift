/// Changes that are sent in one transaction of the engine.
package struct SharedUnit: Sendable {
  /// What the row of a key must be, when the unit is performed.
  package enum Base: Hashable, Sendable {
    case absent
    case row(SharedRow)
  }

  package struct Change: Sendable {
    package let row: SharedRow
    package let base: Base
    package init(row: SharedRow, base: Base) {
      self.row = row
      self.base = base
    }
  }

  package let writer: WriterTag
  package let number: Int64
  package let changes: [Change]
  /// The row `w/<tag>` before, and with this unit, as ``WriterRow`` has it.
  package let oldWriterRow: [UInt8]?
  package let newWriterRow: [UInt8]
  /// Whether it is a transaction; otherwise single changes that are sent together.
  package let isTransaction: Bool

  package init(
    writer: WriterTag, number: Int64, changes: [Change], oldWriterRow: [UInt8]?,
    newWriterRow: [UInt8], isTransaction: Bool
  ) {
    self.writer = writer
    self.number = number
    self.changes = changes
    self.oldWriterRow = oldWriterRow
    self.newWriterRow = newWriterRow
    self.isTransaction = isTransaction
  }

  package static let greatestKeys = UnitLimit.keys
  package static let greatestBytes = UnitLimit.bytes
}
