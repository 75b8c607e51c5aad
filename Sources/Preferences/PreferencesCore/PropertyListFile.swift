package import FoundationEssentials
internal import Glibc
internal import PrephirencesSystem
internal import SystemPackage

/// A property list whose root is a dictionary of preferences.
package struct PropertyListFile {
  package typealias Format = PropertyListReader.Format

  package let path: String

  package init(path: String) { self.path = path }

  package func read() throws(PreferencesError) -> (values: PreferencesDictionary, format: Format) {
    let (root, format) = try PropertyListReader.readDictionary(AtomicFile(path: path).read()) {
      "the file '\(path)' is \($0); repair it, or move it away"
    }
    return (PropertyListForm.decode(root: root), format)
  }

  package func write(
    _ values: PreferencesDictionary, format: Format, atomically: Bool = true
  ) throws(PreferencesError) {
    let root = try PropertyListForm.encode(root: values, isXML: format == .xml)
    let data = try PropertyListWriter.data(of: root, format: format)
    try AtomicFile(path: path).write(data, atomically: atomically)
  }
}

extension PropertyListForm {
  /// Returns the form of preferences, together with the exact dates.
  fileprivate static func encode(
    root values: PreferencesDictionary, isXML: Bool
  ) throws(PreferencesError) -> PreferencesDictionary {
    var root: PreferencesDictionary = [:]
    for (key, value) in values {
      let form = try encode(entry: value, key)
      root[key] = isXML ? XMLPropertyList.form(form) : form
      root[ExactDates.key(beside: key)] = ExactDates.list(of: form)
    }
    if isReference(root) {
      throw .unstorableValue(referenceKey, type(of: root[referenceKey] ?? root))
    }
    return root
  }

  private static func encode(
    entry value: PreferenceObject, _ key: PreferenceKey
  ) throws(PreferencesError) -> Any {
    do throws(Unstorable) {
      if beginsWithByteOrderMark(key) { throw Unstorable(type: type(of: value)) }
      return try encode(value)
    } catch {
      throw .unstorableValue(key, error.type)
    }
  }

  /// Returns the preferences of a form.
  fileprivate static func decode(root: PreferencesDictionary) -> PreferencesDictionary {
    var values: PreferencesDictionary = [:]
    for (key, form) in root where !ExactDates.isBeside(key) {
      values[key] = ExactDates.restore(decode(form), root[ExactDates.key(beside: key)])
    }
    return values
  }
}

/// A file that is replaced as a whole, so that it is never half written.
package struct AtomicFile {
  package let path: String

  package init(path: String) { self.path = path }

  package func read() throws(PreferencesError) -> Data {
    if path.utf8.contains(0) { throw .system(EINVAL, "cannot open the file '\(path)'") }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, "cannot open the file '\(path)'") }
    defer { close(descriptor) }
    do {
      var data = Data()
      while true {
        let bytes = try DescriptorIO.read(FileDescriptor(rawValue: descriptor), 65536)
        if bytes.isEmpty { return data }
        data += bytes
      }
    } catch {
      throw PreferencesError(.inputOutput, "cannot read the file '\(path)'")
    }
  }

  /// Writes the file and waits until it is on disk.
  ///
  /// Follows a symbolic link. The file keeps its permissions; a new file is readable by its owner
  /// only. If `atomically` is `true`, the old file stays until the new one is complete, and a file
  /// that is not regular is not replaced.
  package func write(_ data: Data, atomically: Bool) throws(PreferencesError) {
    let target = try target()
    guard atomically else {
      return try Self.write(data, to: target, O_WRONLY | O_CREAT | O_TRUNC)
    }
    var status = stat()
    // Replacing a device or a pipe would take it away from other users.
    if stat(target, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw PreferencesError(
        .inputOutput, "cannot replace '\(target)', which is not a regular file")
    }
    let temporary = "\(target).\(UInt64.random(in: .min ... .max)).tmp"
    do throws(PreferencesError) {
      try Self.write(data, to: temporary, O_WRONLY | O_CREAT | O_EXCL, like: target)
      guard rename(temporary, target) == 0 else {
        throw PreferencesError.system(errno, "cannot replace the file '\(target)'")
      }
    } catch {
      unlink(temporary)
      throw error
    }
    try Self.synchronize(folder: Self.folder(of: target))
  }

  /// Returns the path at the end of symbolic links; the file need not exist.
  private func target() throws(PreferencesError) -> String {
    if path.utf8.contains(0) { throw .system(EINVAL, "cannot write the file '\(path)'") }
    var path = path
    for _ in 0..<40 {
      guard
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
      else { return path }
      path = link.hasPrefix("/") ? link : "\(Self.folder(of: path))/\(link)"
    }
    throw .system(ELOOP, "cannot write the file '\(path)'")
  }

  // Foundation's function stops the process for the path ".".
  private static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func write(
    _ data: Data, to path: String, _ flags: Int32, like model: String? = nil
  ) throws(PreferencesError) {
    let descriptor = open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(errno, "cannot write the file '\(path)'") }
    defer { close(descriptor) }
    var status = stat()
    if let model, stat(model, &status) == 0 {
      // Only the superuser can keep the owner; for others the failure is harmless.
      _ = fchown(descriptor, status.st_uid, status.st_gid)
      fchmod(descriptor, status.st_mode & 0o7777)
    }
    do {
      try DescriptorIO.write(Array(data), to: FileDescriptor(rawValue: descriptor))
    } catch {
      throw PreferencesError(.inputOutput, "cannot write the file '\(path)'")
    }
    guard fsync(descriptor) == 0 else { throw .system(errno, "cannot write the file '\(path)'") }
  }

  /// Makes the names in a folder durable; otherwise the old file may reappear after a crash.
  private static func synchronize(folder: String) throws(PreferencesError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, "cannot open the folder '\(folder)'") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw .system(errno, "cannot write the folder '\(folder)'")
    }
  }
}
