public import Foundation
internal import PrephirencesSystem

/// Preferences in a property list file, XML or binary.
///
/// ```swift
/// let plist = try Plist(openingFile: "/my/file.plist")
/// plist["theme"] = "dark"
/// plist.write()
/// ```
///
/// The values are in memory; ``write(_:)`` writes all of them to the file, ``read()`` reads them
/// again. If several programs write the file, the last one wins. It is safe to use from several
/// threads.
///
/// Values are read back as they were set, numbers as `NSNumber`. Setting a value that a property
/// list cannot hold changes nothing, and ``lastError`` has the reason until the next write or read.
open class Plist: MutableDictionaryPreferences, ChangeRecording, @unchecked Sendable {
  /// The path of the file; `nil` for preferences from a dictionary literal, which have no file.
  public let filePath: String?

  let state: PosixMutex<PlistState>

  // Only one thread reads or writes at a time, so that the last write has the last values.
  let access = NSLock()

  /// Creates preferences from a dictionary, for a file that the first write creates or replaces.
  ///
  /// - Parameters:
  ///   - values: The values by their keys.
  ///   - filePath: The path of the file; `nil` if there is none.
  ///   - format: The format of the file.
  public init(
    _ values: PreferencesDictionary, filePath: String?,
    format: PropertyListSerialization.PropertyListFormat = .xml
  ) {
    self.filePath = filePath
    state = PosixMutex(PlistState(format: PropertyListReader.Format(format)))
    super.init(dictionary: values)
  }

  /// Reads preferences from a file.
  ///
  /// It is `nil` if the file is missing or damaged; ``init(contentsOfFile:)`` reports which.
  ///
  /// - Parameter filePath: The path of the file; its root is a dictionary.
  public override init?(filePath: String) {
    guard let file = try? PropertyListFile(path: filePath).read() else { return nil }
    self.filePath = filePath
    state = PosixMutex(PlistState(format: file.format))
    super.init(dictionary: file.values)
  }

  /// Reads preferences from a file.
  ///
  /// - Parameter path: The path of the file; its root is a dictionary.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/notFound``,
  ///   ``PreferencesError/Code/damaged`` or ``PreferencesError/Code/inputOutput``.
  public convenience init(contentsOfFile path: String) throws(PreferencesError) {
    let file = try PropertyListFile(path: path).read()
    self.init(file.values, filePath: path, format: file.format.foundationFormat)
  }

  /// Creates preferences from the elements of a dictionary literal, without a file.
  ///
  /// - Parameter elements: The keys, each once, with their values.
  public required convenience init(dictionaryLiteral elements: (PreferenceKey, PreferenceObject)...)
  {
    self.init(
      PreferencesDictionary(elements) { _, last in last }, filePath: nil, format: .xml)
  }

  /// Whether each change is written to the file immediately; `false` by default.
  open var writeImmediately: Bool {
    get { state.withLock(\.writesImmediately) }
    set { state.withLock { $0.writesImmediately = newValue } }
  }

  /// An alias of ``writeImmediately``, with the spelling of older programs.
  public final var writeImmediatly: Bool {
    get { writeImmediately }
    set { writeImmediately = newValue }
  }

  /// Writes all values to the file, in the format in which it was read.
  ///
  /// - Parameter atomically: Whether the old file stays until the new one is complete.
  /// - Returns: `false` on failure; ``lastError`` has the reason.
  @discardableResult
  open func write(_ atomically: Bool = true) -> Bool {
    record { () throws(PreferencesError) in try writeFile(atomically: atomically) }
  }

  /// Replaces all values by those of the file.
  ///
  /// - Returns: `false` if the file is missing or damaged; ``lastError`` has the reason. The values
  ///   then stay, and a damaged file is not overwritten until it was removed or can be read again.
  @discardableResult
  open func read() -> Bool {
    record { () throws(PreferencesError) in try readFile() }
  }

  /// Sets the value of a key; `nil` removes the key.
  ///
  /// - Parameters:
  ///   - value: The value; if a property list cannot hold it, nothing changes, and ``lastError``
  ///     has the reason.
  ///   - key: The key.
  open override func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    if accepts(value, forKey: key) { super.set(value, forKey: key) }
  }

  /// Sets the values of several keys in one step; other keys keep theirs.
  ///
  /// If a property list cannot hold one of the values, nothing changes, and ``lastError`` names it.
  open override func set(dictionary: PreferencesDictionary) {
    let dictionary = withoutNulls(dictionary)
    if dictionary.allSatisfy({ accepts($0.value, forKey: $0.key) }) {
      super.set(dictionary: dictionary)
    }
  }

  /// Records a refused value as ``lastError``.
  open override func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    state.withLock { $0.lastError = error }
  }

  package func didChange(_ keys: () -> [PreferenceKey]) {
    if writeImmediately { write() }
  }
}
