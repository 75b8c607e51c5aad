internal import PrephirencesText

/// String pairs that a user attaches to a credential, and that searches match.
///
/// A name occurs once. Names and values compare as bytes; the pairs are ordered by the bytes of
/// their names.
public struct CredentialAttributes: Sendable {
  private var pairs: [(name: String, value: String)] = []

  /// Creates an empty set of attributes.
  public init() {}

  /// Creates attributes from pairs that are already in order, in linear time.
  ///
  /// - Parameter pairs: The pairs, in the order of the bytes of their names, no name twice.
  package init(inOrder pairs: [(name: String, value: String)]) {
    self.pairs = pairs
  }

  /// The value of a name; setting `nil` removes the pair.
  ///
  /// - Parameter name: The name, compared as bytes.
  public subscript(name: String) -> String? {
    get { pairs.first { $0.name.hasSameBytes(as: name) }?.value }
    set {
      pairs.removeAll { $0.name.hasSameBytes(as: name) }
      guard let newValue else { return }
      let position =
        pairs.firstIndex { name.hasLesserBytes(than: $0.name) } ?? pairs.endIndex
      pairs.insert((name, newValue), at: position)
    }
  }

  /// Returns whether every pair of `other` is included.
  ///
  /// - Parameter other: The pairs to look for.
  /// - Returns: `true` if all are included, with the same bytes.
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
  ///
  /// - Parameter position: A valid index.
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
  ///
  /// - Parameter hasher: Takes the bytes.
  public func hash(into hasher: inout Hasher) {
    for pair in pairs {
      pair.name.hashUTF8(into: &hasher)
      pair.value.hashUTF8(into: &hasher)
    }
  }
}
