internal import FoundationEssentials
internal import Glibc
package import KeychainCredentials
package import KeychainVault
internal import KeychainVaultFormat
package import PrephirencesSystem
internal import SystemPackage

/// Small texts about subjects whose names must stay secret.
///
/// Each is a file in the state folder, named by a hash of the subject and ending with a checksum,
/// both keyed with the device secret.
package final class KeyedRecords: Sendable {
  /// Changes when a record changes.
  package typealias Stamp = FileStamp

  private let state: StateFolder
  private let name: String
  private let resolved = PosixMutex<String?>(nil)

  /// Creates the handle; nothing is read or created before the first use.
  package init(named name: String, in state: StateFolder) {
    self.name = name
    self.state = state
  }

  /// Returns the name of a subject's file; `nil` if there is no device secret, and none should be
  /// created.
  package func fileName(
    of subject: [UInt8], makingDeviceSecret: Bool = false
  ) throws(KeychainError) -> String? {
    try state.tag(
      "pk1/record.name", of: [Array(name.utf8), subject], makingDeviceSecret: makingDeviceSecret)
  }

  /// Returns the current stamp of a record; `nil` if there is no record.
  package func stamp(_ fileName: String) throws(KeychainError) -> Stamp? {
    let path = try path(fileName)
    return try translated(PrivateFile.look(path)).map { Stamp($0) }
  }

  /// Reads a record, and returns it with its stamp; `nil` if there is no record.
  package func read(_ fileName: String) throws(KeychainError) -> (text: String, stamp: Stamp)? {
    let path = try path(fileName)
    guard let (contents, stamp) = try contents(path) else { return nil }
    guard let text = try checked(contents, fileName) else { throw .damagedRecord(path) }
    return (text, stamp)
  }

  /// Creates a record; `false` if it exists.
  ///
  /// It appears completely or not at all, and is durable before this returns.
  package func create(_ fileName: String, _ text: String) throws(KeychainError) -> Bool {
    let path = try path(fileName)
    let sealed = try sealed(text, fileName)
    return try translating { () throws(FileError) in
      try PrivateFile.makeFolder(FilePath(path).removingLastComponent().string)
      return try PrivateFile.createIfAbsent(path) { descriptor throws(Errno) in
        try DescriptorIO.write(sealed, to: descriptor)
      }
    }
  }

  /// Writes a record, and replaces an existing one.
  package func replace(_ fileName: String, by text: String) throws(KeychainError) {
    let path = try path(fileName)
    let sealed = try sealed(text, fileName)
    try translating { () throws(FileError) in
      try PrivateFile.makeFolder(FilePath(path).removingLastComponent().string)
      try PrivateFile.replace(path) { descriptor throws(Errno) in
        try DescriptorIO.write(sealed, to: descriptor)
      }
    }
  }

  /// Returns all records, with `nil` for those that are damaged or were made with another device
  /// secret.
  package func all() throws(KeychainError) -> [(path: String, text: String?)] {
    let folder = try folder()
    return try fileNames(in: folder).map { name throws(KeychainError) in
      let path = folder + "/" + name
      return (
        path,
        try contents(path).flatMap { found throws(KeychainError) in try checked(found.0, name) }
      )
    }
  }

  /// Returns the current stamps of all records.
  package func stamps() throws(KeychainError) -> [Stamp] {
    try fileNames(in: folder()).map { name throws(KeychainError) in try stamp(name) }
      .compactMap(\.self)
  }

  private func fileNames(in folder: String) throws(KeychainError) -> [String] {
    // A folder that cannot be listed must not look like an empty one.
    guard unsafe access(folder, R_OK | X_OK) == 0 else {
      guard errno == ENOENT || errno == ENOTDIR else { throw .system(.current, "read", folder) }
      return []
    }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch { throw .system(.ioError, "read", folder) }
    return names.filter(Self.isFileName).sorted()
  }

  package func path(_ fileName: String) throws(KeychainError) -> String {
    try folder() + "/" + fileName
  }

  private func folder() throws(KeychainError) -> String {
    if let folder = resolved.withLock({ $0 }) { return folder }
    let folder = try state.path() + "/" + name
    // The path of a missing folder may change later.
    if unsafe access(folder, F_OK) == 0 { resolved.withLock { $0 = folder } }
    return folder
  }

  private func contents(_ path: String) throws(KeychainError) -> (text: String, stamp: Stamp)? {
    let descriptor: FileDescriptor
    do throws(Errno) {
      // Opening does not wait if a pipe has taken its place; the check rejects it.
      descriptor = try PrivateFile.open(path, flags: O_NONBLOCK)
    } catch {
      guard error == .noSuchFileOrDirectory || error == .notDirectory else {
        throw .system(error, "read", path)
      }
      return nil
    }
    defer { try? descriptor.close() }
    let stat = try translated(onFile(path, "read", Stat(descriptor)))
    try translated(PrivateFile.check(stat, path))
    do throws(Errno) {
      let bytes = try DescriptorIO.read(descriptor, Self.maximumCount)
      return (String(decoding: bytes, as: UTF8.self), Stamp(stat))
    } catch { throw .system(error, "read", path) }
  }

  private static let maximumCount = 4096

  private static func isFileName(_ name: String) -> Bool {
    name.utf8.count == 32 && name.utf8.allSatisfy { 48...57 ~= $0 || 97...102 ~= $0 }
  }

  private static let checkLabel = "check:"

  /// Returns a text with its checksum, which also covers the name of its file.
  private func sealed(_ text: String, _ fileName: String) throws(KeychainError) -> [UInt8] {
    guard let check = try check(text, fileName) else {
      throw KeychainError(.internalFailure, "there is no device key to write a record with")
    }
    return Array((text + Self.checkLabel + " " + check + "\n").utf8)
  }

  /// Returns the text of a file; `nil` if its checksum is wrong.
  private func checked(_ contents: String, _ fileName: String) throws(KeychainError) -> String? {
    // A checksum has no colon, so the last one separates its label.
    guard let colon = contents.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    let labeled = contents[...colon]
    guard labeled.hasSuffix(Self.checkLabel) else { return nil }
    let text = String(labeled.dropLast(Self.checkLabel.count))
    guard let check = try check(text, fileName),
      contents[contents.utf8.index(after: colon)...] == " " + check + "\n"
    else { return nil }
    return text
  }

  private func check(_ text: String, _ fileName: String) throws(KeychainError) -> String? {
    try state.tag("pk1/record.check", of: [Array(fileName.utf8), Array(text.utf8)])
  }
}

extension KeychainError {
  fileprivate static func damagedRecord(_ path: String) -> Self {
    Self(
      .damaged, "\(path) is damaged, or was written with another device key",
      recovery: .nameStoreAndRemoveRecord)
  }
}

/// Records what unfinished migrations have copied, in the file `migration.copies` of the state
/// folder: one line for each copy.
///
/// A line is a hash of the copy, keyed with the device secret, and the two stores of the migration:
/// without that key, nobody learns a name. A writer holds `migration.lock`. A torn or damaged line
/// is ignored.
package struct CopyNotes: Sendable {
  /// A copy, as it was when it was made.
  package struct Note: Hashable, Sendable {
    /// The hash of the copied credential.
    package let mark: String

    /// The source and the target, in words without spaces.
    package let route: String
  }

  private let state: StateFolder

  package init(_ state: StateFolder) { self.state = state }

  /// Returns the note about a copy; `nil` if there is no device secret.
  package func note(_ subject: [UInt8], route: String) throws(KeychainError) -> Note? {
    try state.tag("pk1/record.name", of: [Array("copies".utf8), route.utf8 + [0] + subject])
      .map { Note(mark: $0, route: route) }
  }

  package func all() throws(KeychainError) -> Set<Note> {
    let path = try path()
    guard let stat = try translated(PrivateFile.inspect(path)) else { return [] }
    do throws(Errno) {
      let descriptor = try PrivateFile.open(path, flags: O_NONBLOCK)
      defer { try? descriptor.close() }
      let bytes = try DescriptorIO.read(descriptor, Int(stat.size))
      return Set(
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap(Self.note))
    } catch { throw .system(error, "read", path) }
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
      try DescriptorIO.write(Array("\n\(note.mark) \(note.route)".utf8), to: descriptor)
      guard fdatasync(descriptor.rawValue) == 0 else { throw Errno.current }
    } catch { throw .system(error, "write", path) }
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
    let lines = notes.map { "\n\($0.mark) \($0.route)" }.sorted().joined()
    try translated(
      PrivateFile.replace(path) { descriptor throws(Errno) in
        try DescriptorIO.write(Array(lines.utf8), to: descriptor)
      })
  }

  private func path() throws(KeychainError) -> String { try state.path() + "/migration.copies" }

  private static func note(_ line: Substring) -> Note? {
    let words = line.split(separator: " ")
    guard words.count == 2, words[0].utf8.count == 32 else { return nil }
    return Note(mark: String(words[0]), route: String(words[1]))
  }
}
