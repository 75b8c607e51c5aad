public import FoundationEssentials
internal import PrephirencesSystem

/// A credential without its secret: its names, its attributes, and when its secret is readable.
///
/// ```swift
/// let credential = Credential(
///   .genericPassword(service: "mytool", account: "me"), label: "Example API",
///   expires: .now + 90 * 86_400, attributes: ["environment": "staging"])
/// try store.set(credential, secret: SecretBytes(copying: "hunter2"))
/// ```
public struct Credential: Hashable, Sendable {
  /// The names of the credential.
  public var identity: CredentialIdentity

  /// When the secret can be read.
  public var accessibility: Accessibility

  /// A name for people.
  public var label: String?

  /// A remark for people.
  public var comment: String?

  /// The type of the secret's bytes, as a media type such as `text/plain; charset=utf-8`.
  public var contentType: String?

  /// The end of the secret's validity, kept to the microsecond.
  ///
  /// An expired credential is not deleted automatically.
  public var expires: Date?

  /// Pairs that searches match.
  public var attributes: CredentialAttributes

  /// When the credential was added; set by the store, to the microsecond.
  public package(set) var created: Date

  /// When the credential was last changed; set by the store, to the microsecond.
  public package(set) var modified: Date

  /// A number that identifies this state of the credential; set by the store.
  ///
  /// Pass it as `expectedVersion`, so that a change fails if another program has made one in
  /// between.
  public package(set) var version: UInt64

  /// Whether another program stored the credential in its own form; set by the store.
  ///
  /// Only stores that programs share, such as the desktop keyring, have such credentials.
  public package(set) var isOfOtherProgram = false

  /// All attributes of another program's item, including its names and its schema; empty for ours.
  package var itemAttributes = CredentialAttributes()

  /// Creates a credential to be stored; each argument is the property of its name.
  public init(
    _ identity: CredentialIdentity,
    accessibility: Accessibility = .whenUnlocked,
    label: String? = nil,
    comment: String? = nil,
    contentType: String? = nil,
    expires: Date? = nil,
    attributes: CredentialAttributes = [:]
  ) {
    self.identity = identity
    self.accessibility = accessibility
    self.label = label
    self.comment = comment
    self.contentType = contentType
    self.expires = expires
    self.attributes = attributes
    created = .distantPast
    modified = .distantPast
    version = 0
  }

  /// Creates a credential as a store keeps it; for authors of stores.
  ///
  /// ```swift
  /// func stored(_ given: Credential, replacing old: Credential?, version: UInt64) -> Credential {
  ///   let now = Date.now
  ///   return Credential(given, version: version, created: old?.created ?? now, modified: now)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - description: The identity, accessibility and attributes of the credential. Its expiry is
  ///     rounded to the microsecond; its version and dates are not used.
  ///   - version: A number that the credential never had before.
  ///   - created: When the credential was added, which replacing doesn't change; rounded to the
  ///     microsecond.
  ///   - modified: When the credential was last changed; rounded to the microsecond.
  public init(_ description: Credential, version: UInt64, created: Date, modified: Date) {
    self = description
    expires = expires?.toMicrosecond
    isOfOtherProgram = false
    restore(version: version, created: created.toMicrosecond, modified: modified.toMicrosecond)
  }

  /// Returns whether an expiry is set and has passed.
  public func isExpired(at date: Date = Date()) -> Bool { expires.map { $0 <= date } ?? false }

  /// The maximum number of bytes in a secret: 16 MiB.
  public static let maximumSecretCount = 16 << 20
}

/// String pairs that a user attaches to a credential, and that searches match.
///
/// A name occurs once. Names and values compare as bytes; the pairs are ordered by the bytes of
/// their names.
public struct CredentialAttributes: Sendable {
  private var pairs: [(name: String, value: String)] = []

  /// Creates an empty set of attributes.
  public init() {}

  /// Creates attributes from pairs that are already in order, in linear time.
  package init(inOrder pairs: [(name: String, value: String)]) { self.pairs = pairs }

  /// The value of a name; setting `nil` removes the pair.
  ///
  /// - Parameter name: The name, compared as bytes.
  public subscript(name: String) -> String? {
    get {
      let position = position(of: name)
      return position.isTaken ? pairs[position.index].value : nil
    }
    set {
      let position = position(of: name)
      switch (position.isTaken, newValue) {
      case (true, let value?): pairs[position.index].value = value
      case (true, nil): pairs.remove(at: position.index)
      case (false, let value?): pairs.insert((name, value), at: position.index)
      case (false, nil): break
      }
    }
  }

  /// Finds a name by binary search, so that many attributes are read in almost linear time.
  private func position(of name: String) -> (index: Int, isTaken: Bool) {
    var (low, high) = (0, pairs.count)
    while low < high {
      let middle = (low + high) / 2
      if pairs[middle].name.hasLesserBytes(than: name) { low = middle + 1 } else { high = middle }
    }
    return (low, low < pairs.count && pairs[low].name.hasSameBytes(as: name))
  }

  /// Returns whether it includes every pair of `other`, with the same bytes.
  public func contains(_ other: CredentialAttributes) -> Bool {
    other.allSatisfy { pair in self[pair.name]?.hasSameBytes(as: pair.value) ?? false }
  }
}

extension CredentialAttributes: RandomAccessCollection {
  /// A pair.
  public typealias Element = (name: String, value: String)

  /// The position of the first pair.
  public var startIndex: Int { pairs.startIndex }

  /// The position after the last pair.
  public var endIndex: Int { pairs.endIndex }

  /// The pair at a position.
  public subscript(position: Int) -> Element { pairs[position] }
}

extension CredentialAttributes: ExpressibleByDictionaryLiteral {
  /// Creates attributes from a literal; the last of equal names wins.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { self[name] = value }
  }
}

extension CredentialAttributes: Hashable {
  /// Compares names and values as bytes.
  public static func == (left: Self, right: Self) -> Bool {
    left.pairs.elementsEqual(right.pairs) {
      $0.name.hasSameBytes(as: $1.name) && $0.value.hasSameBytes(as: $1.value)
    }
  }

  /// Hashes names and values as bytes.
  public func hash(into hasher: inout Hasher) {
    for pair in pairs {
      pair.name.hashUTF8(into: &hasher)
      pair.value.hashUTF8(into: &hasher)
    }
  }
}
