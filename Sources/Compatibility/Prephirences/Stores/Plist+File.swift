public import Foundation
internal import PrephirencesSystem

/// The state of a ``Plist``'s file.
struct PlistState {
  var format: PropertyListFile.Format
  var writesImmediately = false
  var lastError: PreferencesError?
  var isDamaged = false
}

extension Plist {
  /// Reads preferences from a file; if it is missing, the first write creates it.
  ///
  /// - Parameters:
  ///   - path: The path of the file; its root is a dictionary.
  ///   - format: The format of a new file.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/damaged`` or
  ///   ``PreferencesError/Code/inputOutput``.
  public convenience init(
    openingFile path: String, format: PropertyListSerialization.PropertyListFormat = .xml
  ) throws(PreferencesError) {
    do throws(PreferencesError) {
      try self.init(contentsOfFile: path)
    } catch {
      guard error.code == .notFound else { throw error }
      self.init([:], filePath: path, format: format)
    }
  }

  /// Reads preferences from a property list in a bundle.
  ///
  /// It is `nil` if the file is missing or damaged.
  ///
  /// - Parameters:
  ///   - filename: The name of the file, without the extension `plist`.
  ///   - bundle: The bundle.
  public convenience init?(filename: String?, bundle: Bundle = .main) {
    guard let filename, let path = bundle.path(forResource: filename, ofType: "plist") else {
      return nil
    }
    self.init(filePath: path)
  }

  /// The failure of the last ``Plist/write(_:)`` or ``Plist/read()``, or of a value refused since;
  /// `nil` if there was none.
  public var lastError: PreferencesError? { state.withLock(\.lastError) }

  /// Writes all values to the file, in the format in which it was read.
  ///
  /// - Parameter atomically: Whether the old file stays until the new one is complete.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` for a value that a
  ///   property list cannot hold, ``PreferencesError/Code/damaged`` if the file was damaged when it
  ///   was read, or ``PreferencesError/Code/inputOutput``. The file does not change.
  public func writeFile(atomically: Bool = true) throws(PreferencesError) {
    let file = try file()
    access.lock()
    defer { access.unlock() }
    let format = state.withLock(\.format)
    if state.withLock(\.isDamaged), FileManager.default.fileExists(atPath: file.path) {
      throw PreferencesError(
        .damaged, "the file '\(file.path)' is damaged; it is not overwritten until it is removed")
    }
    try file.write(storage.all, format: format, atomically: atomically)
    state.withLock { $0.isDamaged = false }
  }

  /// Replaces all values by those of the file.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/notFound``,
  ///   ``PreferencesError/Code/damaged`` or ``PreferencesError/Code/inputOutput``. The values do
  ///   not change.
  public func readFile() throws(PreferencesError) {
    let file = try file()
    defer { storage.observers.deliverPending() }
    access.lock()
    defer { access.unlock() }
    do throws(PreferencesError) {
      let content = try file.read()
      state.withLock {
        $0.format = content.format
        $0.isDamaged = false
      }
      storage.replaceAll(with: content.values)
    } catch {
      if error.code == .damaged { state.withLock { $0.isDamaged = true } }
      throw error
    }
  }

  /// Returns whether the file can hold a value; if not, records the error.
  ///
  /// In memory, such a value would prevent all others from being written.
  func accepts(_ value: PreferenceObject?, forKey key: PreferenceKey) -> Bool {
    guard let value = unwrapped(value) else { return true }
    do throws(PreferencesError) {
      _ = try PropertyListForm.encode(value, forKey: key)
      return true
    } catch {
      didRefuse(error, forKey: key)
      return false
    }
  }

  func record(_ body: () throws(PreferencesError) -> Void) -> Bool {
    do throws(PreferencesError) {
      try body()
      state.withLock { $0.lastError = nil }
      return true
    } catch {
      state.withLock { $0.lastError = error }
      return false
    }
  }

  private func file() throws(PreferencesError) -> PropertyListFile {
    guard let filePath else {
      throw PreferencesError(.notFound, "preferences of a dictionary literal have no file")
    }
    return PropertyListFile(path: filePath)
  }
}
