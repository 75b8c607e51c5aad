package import Foundation

/// What the engine said last.
package struct SharingReport: Hashable, Sendable, Codable {
  package var date: Date
  /// When the file was last in step.
  package var lastContact: Date?
  /// A word for programs, such as `unreachable`; `nil` if all is well.
  package var code: String?
  package var message: String?
  package var process: Int32
  package init(
    date: Date, lastContact: Date?, code: String?, message: String?, process: Int32
  ) {
    self.date = date
    self.lastContact = lastContact
    self.code = code
    self.message = message
    self.process = process
  }
}
