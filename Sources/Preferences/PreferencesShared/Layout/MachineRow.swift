package import Foundation
internal import Glibc
internal import PreferencesDurable
internal import PrephirencesSystem

/// The row `who/<tag>`: what the machine of a writer says of itself, which proves nothing.
///
/// It is the form 1 and JSON.
package struct MachineRow: Hashable, Sendable, Codable {
  package var name: String
  /// The release of this package that it has.
  package var release: String
  /// When it was in touch with the engine, by its own clock, in milliseconds since 1970.
  package var contact: Int64
  /// How many of its keys are unsent because they wait for a decision, or were refused.
  package var unsent: Int

  package init(
    name: String, release: String = Release.version, contact: Date = Date(), unsent: Int = 0
  ) {
    self.name = name
    self.release = release
    self.contact = contact.milliseconds
    self.unsent = unsent
  }

  /// Reads a row; `nil` if it is damaged, or has a newer form.
  package init?(_ row: [UInt8]) {
    guard row.count <= Self.greatestSize, row.first == StoreRow.form,
      let read = try? JSONDecoder().decode(Self.self, from: Data(row.dropFirst())),
      Self.isName(read.name), Self.isName(read.release), read.unsent >= 0,
      Date(foreignMilliseconds: read.contact) != nil
    else { return nil }
    self = read
  }

  /// - Throws: The failure of the encoder.
  package func bytes() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return [StoreRow.form] + (try encoder.encode(self))
  }

  package var date: Date { Date(milliseconds: contact) }

  private static let greatestSize = 1024

  // MARK: - Names

  /// The greatest length of a name, in bytes.
  static let greatestName = 64

  /// Whether a text can be the name of a machine: short, and what everybody sees as it is.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= greatestName
      && text.unicodeScalars.allSatisfy { scalar in
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
          .paragraphSeparator:
          return false
        default: return !properties.isDefaultIgnorableCodePoint
        }
      }
  }

  /// The name of this host, as the kernel has it.
  package static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "unnamed" }
    let text = String(
      decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.prefix(greatestName),
      as: UTF8.self)
    return isName(text) ? text : "unnamed"
  }
}
