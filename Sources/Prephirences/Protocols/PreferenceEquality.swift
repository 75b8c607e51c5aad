internal import Foundation

/// Returns whether two values of preferences are the same: of one type and equal.
///
/// Text is compared by its bytes and numbers by their bits, so that what is stored differently is
/// different, and a number that is none is the same as itself. Values that can't be compared, or
/// are nested deeper than property lists may be, differ.
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
  // Before the equality of arrays, which takes equivalent texts for the same.
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
