public import Foundation
internal import Synchronization

/// Preferences in a property list: a file as XML or binary.
///
/// ```swift
/// let plist = try Plist(openingFile: "/my/file.plist")
/// plist["theme"] = "dark"
/// plist.write()
/// ```
///
/// The values are in memory; ``write(_:)`` puts all of them into the file, ``read()`` fetches them
/// anew. Of several programs that write the file, the last wins. Any number of threads may use one
/// at a time.
///
/// Values come back from the file as they were set, numbers as `NSNumber`. A value that a property list
/// cannot hold is refused when it is set: nothing changes, and ``lastError`` says why until the next
/// write or reading.
open class Plist: MutableDictionaryPreferences, @unchecked Sendable {
  /// The path of the file; `nil` for preferences of a dictionary literal, which have none.
  public let filePath: String?

  let state: Mutex<PlistState>

  // One reads or writes at a time, so that what was written last is what was set last.
  let access = NSLock()

  /// Makes preferences of a dictionary, for a file that the first write makes or replaces.
  ///
  /// - Parameters:
  ///   - values: The values by their keys.
  ///   - filePath: The path of the file; `nil` if there is none.
  ///   - format: The format in which it is written.
  public init(
    _ values: PreferencesDictionary, filePath: String?,
    format: PropertyListSerialization.PropertyListFormat = .xml
  ) {
    self.filePath = filePath
    state = Mutex(PlistState(format: format))
    super.init(dictionary: values)
  }

  /// Reads preferences from a file.
  ///
  /// It is `nil` if there is no such file, or it is damaged; ``init(contentsOfFile:)`` says which.
  ///
  /// - Parameter filePath: The path of the file; its root is a dictionary.
  public override init?(filePath: String) {
    guard let file = try? PropertyListFile(path: filePath).read() else { return nil }
    self.filePath = filePath
    state = Mutex(PlistState(format: file.format))
    super.init(dictionary: file.values)
  }

  /// Reads preferences from a file.
  ///
  /// - Parameter path: The path of the file; its root is a dictionary.
  /// - Throws: ``PreferencesError``: ``PreferencesError/Code/notFound``,
  ///   ``PreferencesError/Code/damaged`` or ``PreferencesError/Code/inputOutput``.
  public convenience init(contentsOfFile path: String) throws(PreferencesError) {
    let file = try PropertyListFile(path: path).read()
    self.init(file.values, filePath: path, format: file.format)
  }

  /// Makes preferences of the elements of a dictionary literal, which have no file.
  ///
  /// - Parameter elements: The keys, each once, with their values.
  public required convenience init(dictionaryLiteral elements: (PreferenceKey, PreferenceObject)...)
  {
    self.init(
      PreferencesDictionary(elements) { _, last in last }, filePath: nil, format: .xml)
  }

  /// Whether each change is written to the file at once; `false` at first.
  open var writeImmediately: Bool {
    get { state.withLock(\.writesImmediately) }
    set { state.withLock { $0.writesImmediately = newValue } }
  }

  /// The same as ``writeImmediately``, as older programs spell it.
  public final var writeImmediatly: Bool {
    get { writeImmediately }
    set { writeImmediately = newValue }
  }

  /// Writes all values into the file, in the format in which it was read.
  ///
  /// - Parameter atomically: Whether the old file stays until the new one is complete.
  /// - Returns: `false` if that failed; ``lastError`` says why.
  @discardableResult
  open func write(_ atomically: Bool = true) -> Bool {
    record { () throws(PreferencesError) in try writeFile(atomically: atomically) }
  }

  /// Replaces all values by those of the file.
  ///
  /// - Returns: `false` if the file is missing or damaged; ``lastError`` says which. Then the values
  ///   stay, and a damaged file is not written over until it was removed or can be read again.
  @discardableResult
  open func read() -> Bool {
    record { () throws(PreferencesError) in try readFile() }
  }

  /// Sets the value of a key; `nil` removes.
  ///
  /// - Parameters:
  ///   - value: The value; one that a property list cannot hold changes nothing, and ``lastError`` says so.
  ///   - key: The key.
  open override func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    if accepts(value, forKey: key) { super.set(value, forKey: key) }
  }

  /// Sets the values of several keys at once; other keys stay as they are.
  ///
  /// If a property list cannot hold one of the values, nothing changes, and ``lastError`` says which.
  open override func set(dictionary: PreferencesDictionary) {
    let dictionary = withoutNulls(dictionary)
    if dictionary.allSatisfy({ accepts($0.value, forKey: $0.key) }) {
      super.set(dictionary: dictionary)
    }
  }

  /// Takes note of a value that was refused, as ``lastError``.
  open override func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    state.withLock { $0.lastError = error }
  }

  override func didChange(_ keys: () -> [PreferenceKey]) {
    if writeImmediately { write() }
  }
}
