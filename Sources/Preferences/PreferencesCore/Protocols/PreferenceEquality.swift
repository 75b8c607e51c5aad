internal import FoundationEssentials

/// Returns whether two preference values have the same type and are equal.
///
/// Compares text by bytes and numbers by bits, so that values that are stored differently are
/// different, and not-a-number equals itself. Values that cannot be compared, or exceed the nesting
/// depth of property lists, are different.
func areSame(_ one: Any?, _ other: Any?, depth: Int = 0) -> Bool {
  switch (unwrapped(one), unwrapped(other)) {
  case (nil, nil): true
  case (let one?, let other?): areSameValues(one, other, depth)
  default: false
  }
}

private func areSameValues(_ one: Any, _ other: Any, _ depth: Int) -> Bool {
  guard type(of: one) == type(of: other), depth < PropertyListForm.maximumDepth else {
    return false
  }
  switch (one, other) {
  case (let one as String, let other as String): return one.utf8.elementsEqual(other.utf8)
  case (let one as Double, let other as Double): return one.bitPattern == other.bitPattern
  case (let one as Float, let other as Float): return one.bitPattern == other.bitPattern
  // Must precede the equality of arrays, which treats canonically equivalent texts as equal.
  case (let one as [Any], let other as [Any]):
    return one.count == other.count
      && zip(one, other).allSatisfy { areSame($0, $1, depth: depth + 1) }
  case (let one as [String: Any], let other as [String: Any]):
    return one.count == other.count && one.allSatisfy { areSame($1, other[$0], depth: depth + 1) }
  case (let one as any Equatable, _): return one.isEqual(to: other)
  default: return false
  }
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool { other as? Self == self }
}
