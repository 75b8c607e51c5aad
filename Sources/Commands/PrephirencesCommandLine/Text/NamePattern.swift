/// A pattern of names, as in shells: `*`, `?`, `[a-z]`, `[!a-z]`, and a backslash before a literal
/// character.
///
/// It must match the whole name. Characters are Unicode scalars, upper and lower case differ, and a
/// slash or a leading dot is like any other character.
package struct NamePattern: Hashable, Sendable {
  fileprivate enum Part: Hashable, Sendable {
    case anything
    case one(Characters)
  }

  fileprivate enum Characters: Hashable, Sendable {
    case any
    case literal(Unicode.Scalar)
    case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)
  }

  private let parts: [Part]

  /// Reads a pattern; a bracket that is never closed is literal.
  package init(_ text: String) {
    var rest = Array(text.unicodeScalars)[...]
    var parts: [Part] = []
    while let scalar = rest.popFirst() {
      switch scalar {
      case "*": parts.append(.anything)
      case "?": parts.append(.one(.any))
      case "[": parts.append(.one(Self.takeSet(from: &rest) ?? .literal(scalar)))
      case "\\": parts.append(.one(.literal(rest.popFirst() ?? scalar)))
      default: parts.append(.one(.literal(scalar)))
      }
    }
    self.parts = parts
  }

  /// Returns whether the whole name matches.
  ///
  /// If a character doesn't fit, the last `*` takes one more: the time is at most the product of
  /// both lengths.
  package func matches(_ name: String) -> Bool {
    let scalars = Array(name.unicodeScalars)
    var (part, position) = (0, 0)
    var retry: (part: Int, position: Int)?
    while position < scalars.count {
      if part < parts.count, case .anything = parts[part] {
        part += 1
        retry = (part, position)
      } else if part < parts.count, parts[part].takes(scalars[position]) {
        part += 1
        position += 1
      } else if let last = retry {
        retry = (last.part, last.position + 1)
        (part, position) = (last.part, last.position + 1)
      } else {
        return false
      }
    }
    return parts[part...].allSatisfy { $0 == .anything }
  }

  /// Reads the set after an opening bracket, up to the closing one; returns `nil` if there is none.
  private static func takeSet(from rest: inout ArraySlice<Unicode.Scalar>) -> Characters? {
    var set = rest
    let isNegated = set.first == "!" || set.first == "^"
    if isNegated { set.removeFirst() }
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    var isFirst = true
    while let scalar = set.popFirst() {
      // A bracket in the first place is one of the characters.
      if scalar == "]", !isFirst {
        rest = set
        return .set(ranges, isNegated: isNegated)
      }
      isFirst = false
      let lower = scalar == "\\" ? set.popFirst() ?? scalar : scalar
      var upper = lower
      if set.first == "-", let end = set.dropFirst().first, end != "]" {
        set.removeFirst(2)
        upper = end == "\\" ? set.popFirst() ?? end : end
      }
      if lower <= upper { ranges.append(lower...upper) }
    }
    return nil
  }
}

extension NamePattern.Part {
  /// Returns whether this is a pattern for one character that matches.
  fileprivate func takes(_ scalar: Unicode.Scalar) -> Bool {
    switch self {
    case .anything: false
    case .one(.any): true
    case .one(.literal(let literal)): literal == scalar
    case .one(.set(let ranges, let isNegated)):
      ranges.contains { $0.contains(scalar) } != isNegated
    }
  }
}
