internal import PrephirencesSystem

/// String pairs that a user attaches to a credential, and that searches match.
///
/// A name occurs once. Names and values compare as bytes; the pairs are ordered by the bytes of
/// their names.
public struct CredentialAttributes: Sendable {
  private var pairs: [(name: String, value: String)] = []

  /// Creates an empty set of attributes.
  public init() {}

  /// Creates attributes from pairs that are already in order, in linear time.
  package init(inOrder pairs: [(name: String, value: String)]) {
    self.pairs = pairs
  }

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

  /// Finds a name by halves, so that many attributes are read in almost linear time.
  private func position(of name: String) -> (index: Int, isTaken: Bool) {
    var (low, high) = (0, pairs.count)
    while low < high {
      let middle = (low + high) / 2
      if pairs[middle].name.hasLesserBytes(than: name) { low = middle + 1 } else { high = middle }
    }
    return (low, low < pairs.count && pairs[low].name.hasSameBytes(as: name))
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
