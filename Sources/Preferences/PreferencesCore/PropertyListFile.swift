package import FoundationEssentials
internal import Glibc
internal import PrephirencesSystem
internal import SystemPackage

/// A property list whose root is a dictionary of preferences.
package struct PropertyListFile {
  package typealias Format = PropertyListReader.Format

  package let path: String

  package init(path: String) { self.path = path }

  package func read() throws(PreferencesError) -> (
    values: [PreferenceKey: PreferenceValue], format: Format
  ) {
    let (root, format) = try PropertyListReader.readDictionary(AtomicFile(path: path).read()) {
      "the file '\(path)' is \($0); repair it, or move it away"
    }
    return (PropertyListForm.decode(root: root), format)
  }

  /// Reads the file; numbers are as ``NumberBoxing`` returns them.
  package func readObjects() throws(PreferencesError) -> (
    values: PreferencesDictionary, format: Format
  ) {
    let (values, format) = try read()
    return (values.mapValues { $0.object(numbers: NumberBoxing.boxed) }, format)
  }

  package func write(
    _ values: PreferencesDictionary, format: Format, atomically: Bool = true
  ) throws(PreferencesError) {
    let root = try PropertyListForm.encode(root: values, isXML: format == .xml)
    let data = try PropertyListWriter.data(of: .dictionary(root), format: format)
    try AtomicFile(path: path).write(data, atomically: atomically)
  }
}

extension PropertyListForm {
  /// Returns the form of preferences, together with the exact dates.
  fileprivate static func encode(
    root values: PreferencesDictionary, isXML: Bool
  ) throws(PreferencesError) -> [PreferenceKey: PreferenceValue] {
    var root: [PreferenceKey: PreferenceValue] = [:]
    for (key, value) in values {
      let form = try encode(value, forKey: key, isAlone: false)
      root[key] = isXML ? XMLPropertyList.form(form) : form
      root[ExactDates.key(beside: key)] = ExactDates.list(of: form)
    }
    if isReference(root) {
      throw .unstorableValue(referenceKey, type(of: root[referenceKey]?.plain ?? root))
    }
    return root
  }

  /// Returns the preferences of a form.
  package static func decode(
    root: [PreferenceKey: PreferenceValue]
  ) -> [PreferenceKey: PreferenceValue] {
    var values: [PreferenceKey: PreferenceValue] = [:]
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
    do throws(Errno) {
      var data = Data()
      while true {
        let bytes = try DescriptorIO.read(FileDescriptor(rawValue: descriptor), 65536)
        if bytes.isEmpty { return data }
        data += bytes
      }
    } catch {
      throw .system(error.rawValue, "cannot read the file '\(path)'")
    }
  }

  /// Writes the file and waits until it is on disk.
  ///
  /// Follows a symbolic link. The file keeps its permissions; only the owner can read a new one. If
  /// `atomically` is `true`, the old file stays until the new one is complete, and a file that is
  /// not regular is not replaced. After ``PreferencesError/Code/outcomeUnknown``, the new file
  /// exists, but a power failure may lose it.
  package func write(_ data: Data, atomically: Bool) throws(PreferencesError) {
    let target = try target()
    guard atomically else { return try Self.overwrite(target, with: data) }
    var status = stat()
    let isThere = stat(target, &status) == 0
    // Replacing a device or a pipe would take it away from other users.
    guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
      throw PreferencesError(
        .inputOutput, "cannot replace '\(target)', which is not a regular file")
    }
    do throws(FileError) {
      try PrivateFile.replace(target, openTo: PrivateFile.everybody) { (file) throws(Errno) in
        if isThere {
          // Only the superuser can keep the owner; for others the failure is harmless.
          _ = fchown(file.rawValue, status.st_uid, status.st_gid)
          fchmod(file.rawValue, status.st_mode & 0o7777)
        }
        try DescriptorIO.write(Array(data), to: file)
      }
    } catch {
      if case .unsynced(let cause) = error.kind {
        throw PreferencesError(.outcomeUnknown, error.message, systemCode: cause.rawValue)
      }
      guard let cause = error.systemError else {
        throw PreferencesError(.inputOutput, error.message)
      }
      throw .system(cause.rawValue, "cannot write the file '\(target)'")
    }
  }

  /// Returns the path at the end of symbolic links, which may not exist.
  private func target() throws(PreferencesError) -> String {
    if path.utf8.contains(0) { throw .system(EINVAL, "cannot write the file '\(path)'") }
    var path = path
    for _ in 0..<40 {
      guard
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
      else { return path }
      path = link.hasPrefix("/") ? link : "\(PathText.folder(of: path))/\(link)"
    }
    throw .system(ELOOP, "cannot write the file '\(path)'")
  }

  private static func overwrite(_ path: String, with data: Data) throws(PreferencesError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(errno, "cannot write the file '\(path)'") }
    defer { close(descriptor) }
    do throws(Errno) {
      try DescriptorIO.write(Array(data), to: FileDescriptor(rawValue: descriptor))
      guard fsync(descriptor) == 0 else { throw Errno.current }
    } catch {
      throw .system(error.rawValue, "cannot write the file '\(path)'")
    }
  }
}
