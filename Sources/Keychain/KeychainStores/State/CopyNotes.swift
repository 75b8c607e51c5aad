internal import FoundationEssentials
internal import Glibc
package import KeychainCredentials
package import KeychainVault
internal import PrephirencesSystem
internal import SystemPackage

/// Records what unfinished migrations have copied, in the file `migration.copies` of the state
/// folder: one line for each copy.
///
/// A line is a hash of the copy, keyed with the device secret, and the two stores of the migration:
/// without that key, nobody learns a name. A writer holds `migration.lock`. A torn or damaged line
/// is ignored.
package struct CopyNotes: Sendable {
  /// A copy, as it was when it was made.
  package struct Note: Hashable, Sendable {
    /// The hash of what was copied.
    package let mark: String

    /// The source and the target, in words without spaces.
    package let way: String
  }

  private let state: StateFolder

  package init(_ state: StateFolder) { self.state = state }

  /// Returns the note about a copy.
  ///
  /// Returns the note, or `nil` if there is no device secret.
  package func note(_ subject: [UInt8], way: String) throws(KeychainError) -> Note? {
    try state.tag("pk1/record.name", of: [Array("copies".utf8), way.utf8 + [0] + subject])
      .map { Note(mark: $0, way: way) }
  }

  /// Returns every note.
  package func all() throws(KeychainError) -> Set<Note> {
    let path = try path()
    guard let stat = try translated(PrivateFile.inspect(path)) else { return [] }
    do throws(Errno) {
      let descriptor = try PrivateFile.open(path, flags: O_NONBLOCK)
      defer { try? descriptor.close() }
      let bytes = try DescriptorIO.read(descriptor, Int(stat.size))
      return Set(
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap(Self.note))
    } catch {
      throw .system(error, "read", path)
    }
  }

  /// Adds a note, which is durable when this returns.
  package func add(_ note: Note) throws(KeychainError) {
    let folder = try state.make()
    let path = try path()
    let isNew = try translated(PrivateFile.inspect(path)) == nil
    do throws(Errno) {
      let descriptor = try PrivateFile.open(
        path, .writeOnly, flags: O_APPEND | O_CREAT | O_NONBLOCK)
      defer { try? descriptor.close() }
      // The line break comes first, because the line before may be torn.
      try DescriptorIO.write(Array("\n\(note.mark) \(note.way)".utf8), to: descriptor)
      guard fdatasync(descriptor.rawValue) == 0 else { throw Errno.current }
    } catch {
      throw .system(error, "write", path)
    }
    if isNew { try translated(PrivateFile.syncFolder(folder)) }
  }

  /// Keeps some notes, and drops all others.
  package func keep(_ notes: Set<Note>) throws(KeychainError) {
    let path = try path()
    guard !notes.isEmpty else {
      guard unsafe unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else {
        throw .system(.current, "remove", path)
      }
      return
    }
    let lines = notes.map { "\n\($0.mark) \($0.way)" }.sorted().joined()
    try translated(
      PrivateFile.replace(path) { descriptor throws(Errno) in
        try DescriptorIO.write(Array(lines.utf8), to: descriptor)
      })
  }

  private func path() throws(KeychainError) -> String {
    try state.path() + "/migration.copies"
  }

  private static func note(_ line: Substring) -> Note? {
    let words = line.split(separator: " ")
    guard words.count == 2, words[0].utf8.count == 32 else { return nil }
    return Note(mark: String(words[0]), way: String(words[1]))
  }
}
